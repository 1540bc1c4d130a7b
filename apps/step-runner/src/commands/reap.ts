import { defineCommand, UsageError } from "@steps/console";
import { reapRuns } from "@steps/engine/runs";
import { engineDirectories } from "@steps/service";

/** The command that the reaper of a killed runner executes. */
export const reap = defineCommand({
  name: "reap",
  summary: "End what is left of the jobs of a runner that was killed",
  usage: "PID STATE_DIR",
  description: [
    "The runner's reaper calls it; what the journals say stays for trace recover, or for the service's next start.",
  ],
  flags: {},
  positionals: { min: 2, max: 2 },
  isHidden: true,
  examples: [
    ["step-runner reap 4711 ~/.local/state/step-runner/v1", "end the steps of a runner that had the number 4711"],
  ],
  async run(_options, [pid = "", stateDir = ""]) {
    if (!/^[1-9]\d*$/.test(pid)) throw new UsageError(`PID is "${pid}"`, "It takes the number of a process.");
    await reapRuns(Number(pid), [stateDir, ...engineDirectories(stateDir)]);
    return 0;
  },
});
