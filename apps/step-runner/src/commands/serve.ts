import { join, resolve } from "node:path";
import { defineCommand, flag, type OptionsOf, UsageError } from "@steps/console";
import { errors } from "@steps/console/terminal";
import { socketPlaces } from "@steps/model/socket-path";
import { jobTableFlags, portFlags } from "../flags/serve-flags.ts";
import { aborted, StopSignals } from "../signals.ts";
import { keepHeapSmall } from "@steps/platform/runtime";
import { socketFlag } from "../flags/socket-flag.ts";

const flags = {
  ...socketFlag,
  ...portFlags,
  "require-token": flag.boolean({
    summary: "Refuse jobs that come without a token of their own",
    env: "STEP_RUNNER_REQUIRE_TOKEN",
  }),
  ...jobTableFlags,
};
type Options = OptionsOf<typeof flags>;

export const serve = defineCommand({
  name: "serve",
  summary: "Run jobs for whoever calls on a socket: the services of Steps and of GitLab's step runner",
  usage: "[SOCKET_DIR] [flags]",
  description: [
    "Listens until SIGTERM or SIGINT, then ends all jobs. Jobs that ended, their logs and traces are kept until they are " +
      "closed or expire, also when the service is started again.",
    "Where several users share the machine, --require-token lets only those follow and cancel a job who started it.",
  ],
  flags,
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner serve", "listen where step-runner proxy and runner-bridge look for a service"],
    ["step-runner serve --socket /run/steps/steps.sock --port 8080", "listen on a socket and on a port"],
  ],
  run,
});

async function run(options: Options, [folder]: readonly string[]): Promise<number> {
  keepHeapSmall();
  const { startService } = await import("../service/start-service.ts");
  using stop = new StopSignals();
  const log = (text: string): void => void errors.writeLines(`step-runner: ${text}\n`);
  const service = await startService(options, { socket: socketOf(options, folder), port: options.port }, log);
  service.announce();
  await aborted(stop.signal);
  await service.stop(stop.hurry);
  return 0;
}

function socketOf({ socket: given }: Options, folder: string | undefined): string {
  // The variable is for those that call as well; what is typed wins.
  if (folder === undefined) return given === undefined ? socketPlaces(process.env).own : resolve(given);
  if (given !== undefined && given !== process.env["STEP_RUNNER_SOCKET"])
    throw new UsageError("Both a folder for the socket and --socket are given");
  return join(resolve(folder), "step-runner.sock");
}
