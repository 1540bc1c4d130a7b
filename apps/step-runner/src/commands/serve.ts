import { join, resolve } from "node:path";
import {
  configFlags,
  defineCommand,
  drainFlags,
  flag,
  logFlags,
  type OptionsOf,
  settingsOfConfig,
  UsageError,
} from "@steps/console";
import { DrainSignals, openLog } from "@steps/console/terminal";
import { socketPlaces } from "@steps/model/socket-path";
import { jobTableFlags, portFlags } from "../flags/serve-flags.ts";
import { endService } from "../service/end-service.ts";
import { aborted } from "../signals.ts";
import type { Listener } from "@steps/service/listen";
import { keepHeapSmall } from "@steps/platform/runtime";
import { untilIdle } from "../service/until-idle.ts";
import { socketNotes } from "../flags/socket-flag.ts";

const flags = {
  // A path in a file starts at the folder of the file.
  socket: flag.path(socketNotes),
  ...portFlags,
  "idle-timeout": flag.duration({
    summary: "End by itself after a time without connections and running jobs; never unless given",
    env: "STEP_RUNNER_IDLE_TIMEOUT",
    isPositive: true,
  }),
  "require-token": flag.boolean({
    summary: "Refuse jobs that come without a token of their own",
    env: "STEP_RUNNER_REQUIRE_TOKEN",
  }),
  ...configFlags("STEP_RUNNER_SERVE_CONFIG"),
  ...logFlags("STEP_RUNNER"),
  ...drainFlags("STEP_RUNNER", {
    summary: "How long jobs may go on when the service is told to end; then they are cancelled, at once by default",
    default: "0s",
  }),
  ...jobTableFlags,
};
type Options = OptionsOf<typeof flags>;

export const serve = defineCommand({
  name: "serve",
  summary: "Run jobs for whoever calls on a socket: the services of Steps and of GitLab's step runner",
  usage: "[SOCKET_DIR] [flags]",
  description: [
    "Listens until SIGTERM or SIGINT, then takes no new jobs and, after --drain-timeout, ends those that run; a second signal does " +
      "not wait. Jobs that ended, their logs and traces are kept until they are closed or expire, also when the service is started " +
      "again.",
    "GET /healthz, /readyz and /metrics are answered on the port and on the socket, without a token.",
    "Where several users share the machine, --require-token lets only those follow and cancel a job who started it.",
  ],
  flags,
  settings: settingsOfConfig,
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner serve", "listen where step-runner proxy and runner-bridge look for a service"],
    ["step-runner serve --socket /run/steps/steps.sock --port 8080", "listen on a socket and on a port"],
    ["step-runner serve --config /etc/step-runner/serve.yml", "with the flags of a file"],
  ],
  run,
});

async function run(options: Options, [folder]: readonly string[]): Promise<number> {
  assertTokenTold(options);
  keepHeapSmall();
  const { startService } = await import("../service/start-service.ts");
  using signals = new DrainSignals({ timeoutMs: options.drainTimeout });
  const log = openLog(options);
  const service = await startService(options, { socket: socketOf(options, folder), port: options.port }, log);
  if (options.logFormat === "text") service.announce();
  else tellAddresses(service.listeners);
  await Promise.race([aborted(signals.drain), untilIdle(service, options.idleTimeout)]);
  await endService(service, signals, log);
  return 0;
}

// Whoever waits for the service waits for these lines, however few others are wanted.
function tellAddresses(listeners: readonly Listener[]): void {
  const log = openLog({ logFormat: "json", logLevel: "info" });
  for (const { address } of listeners) log("info", "step-runner is listening", { address });
}

// Logs are collected and kept, so that a token in them would be known to many.
function assertTokenTold({ port, logFormat, insecureAnyClient }: Options): void {
  const isMade = port !== undefined && !insecureAnyClient && (process.env["STEP_RUNNER_TOKEN"] ?? "") === "";
  if (isMade && logFormat === "json")
    throw new UsageError(
      "There is no token for --port, and --log-format json would not tell one that is made up",
      "Set STEP_RUNNER_TOKEN.",
    );
}

function socketOf({ socket: given }: Options, folder: string | undefined): string {
  // The variable is for those that call as well; what is typed wins.
  if (folder === undefined) return given ?? socketPlaces(process.env).own;
  if (given !== undefined && given !== resolve(process.env["STEP_RUNNER_SOCKET"] ?? ""))
    throw new UsageError("Both a folder for the socket and --socket are given");
  return join(resolve(folder), "step-runner.sock");
}
