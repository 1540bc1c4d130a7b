import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { defineCommand, type OptionsOf } from "@steps/console";
import { jobTableFlags } from "../flags/serve-flags.ts";
import { aborted, StopSignals } from "../signals.ts";
import { keepHeapSmall } from "@steps/platform/runtime";
import { socketFlag } from "../flags/socket-flag.ts";

const flags = { ...socketFlag, ...jobTableFlags };
type Options = OptionsOf<typeof flags>;

export const stepsServe = defineCommand({
  name: "steps serve",
  summary: "serve, as GitLab's runner calls it in a build container",
  usage: "[flags] [--] [COMMAND ARGS...]",
  description: [
    "With a command it waits for something on standard input, then runs the command with it; the command's exit status is " +
      "that of the service, which ends with it. Without anything on standard input it ends with 0.",
  ],
  flags,
  positionals: { min: 0, max: Number.POSITIVE_INFINITY },
  takesCommand: true,
  isHidden: true,
  examples: [["gitlab-runner-helper steps serve sh", "what GitLab's runner starts in a build container"]],
  run,
});

async function run(options: Options, command: readonly string[]): Promise<number> {
  const socket = resolve(options.socket ?? join(tmpdir(), "step-runner.sock"));
  keepHeapSmall();
  const { startService } = await import("../service/start-service.ts");
  using stop = new StopSignals();
  // The service has no log for its operator here: it would end up in the job's log.
  const service = await startService(options, { socket });
  process.env["STEP_RUNNER_SOCKET"] = socket;
  service.announce();
  try {
    if (command.length > 0) return await service.runSession(command, stop.signal);
    await aborted(stop.signal);
    return 0;
  } finally {
    await service.stop(stop.hurry);
  }
}
