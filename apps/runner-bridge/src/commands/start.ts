import { dirname, join } from "node:path";
import { realpathSync } from "node:fs";
import { defineCommand, drainFlags, flag, logFlags, type OptionsOf, settingsOfKey, UsageError } from "@steps/console";
import { DrainSignals, openLog } from "@steps/console/terminal";
import { findProgram } from "@steps/platform/processes";
import { loadConfig, startRunners } from "@steps/runner";
import { configFile, stateDirectory } from "../directories.ts";
import { configFlags, configOf } from "../runners/config-flags.ts";

const flags = {
  ...configFlags,
  "state-dir": flag.path({
    summary: "Where jobs are kept until their server has all of them; runner-bridge below XDG_STATE_HOME by default",
    env: "RUNNER_BRIDGE_STATE_DIR",
  }),
  "step-runner": flag.text({
    placeholder: "PROGRAM",
    summary: "The command step-runner; the one beside this program, or on the PATH, by default",
    env: "RUNNER_BRIDGE_STEP_RUNNER",
  }),
  ...logFlags("RUNNER_BRIDGE"),
  ...drainFlags("RUNNER_BRIDGE", {
    summary: "How long jobs that run are waited for before they are cancelled; as long as they take by default",
  }),
};
type Options = OptionsOf<typeof flags>;

export const start = defineCommand({
  name: "start",
  summary: "Take jobs for the runners that are registered, until told to end",
  usage: "[flags]",
  description: [
    "SIGTERM or SIGINT: no more jobs are taken, and those that run are waited for. A second one, or the end of --drain-timeout, " +
      "cancels them; one more leaves them to themselves.",
    "Killed or restarted at any moment, the runner finds its jobs again: they go on meanwhile, no output of theirs is lost, " +
      "and none runs twice.",
    "The key start of the file with the runners may have flags of this command, by their names.",
  ],
  flags,
  settings: settingsOfKey("start", () => configFile(process.env)),
  positionals: { min: 0, max: 0 },
  examples: [
    ["runner-bridge start", "take jobs"],
    ["runner-bridge start --config /etc/runner-bridge/runners.yml", "take jobs for the runners of another file"],
  ],
  run: execute,
});

async function execute(options: Options): Promise<number> {
  const configFile = configOf(options);
  if (loadConfig(configFile).runners.length === 0) {
    throw new UsageError(
      `There is no runner in "${configFile}"`,
      "Register one: runner-bridge register --url URL --token TOKEN",
    );
  }
  using signals = new DrainSignals({ timeoutMs: options.drainTimeout });
  const log = openLog(options);
  const counts = await startRunners({
    configFile,
    stateDir: options.stateDir ?? join(stateDirectory(process.env), "runner"),
    stepRunner: stepRunnerOf(options),
    log,
    drain: signals.drain,
    cancel: signals.cancel,
    leave: signals.leave,
  });
  log("info", "Ended", counts);
  return 0;
}

function stepRunnerOf({ stepRunner: given }: Options): string {
  const workDir = process.cwd();
  const path = process.env["PATH"];
  if (given !== undefined) {
    const named = findProgram(given, { path, workDir });
    if (named === undefined) throw new UsageError(`--step-runner: there is no program "${given}"`);
    return named;
  }
  const own = process.argv[1];
  const beside = own === undefined ? [] : [dirname(own), dirname(realpathSync(own))];
  const places = [...beside.map((dir) => join(dir, "step-runner")), "step-runner"];
  for (const place of places) {
    const found = findProgram(place, { path, workDir });
    if (found !== undefined) return found;
  }
  throw new UsageError("There is no step-runner on the PATH", "Install it, or name it: --step-runner PROGRAM");
}
