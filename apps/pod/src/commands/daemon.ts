import {
  defineCommand,
  drainFlags,
  flag,
  grouped,
  logFlags,
  type OptionsOf,
  settingsOfKey,
  UsageError,
} from "@steps/console";
import { openLog, StopSignals } from "@steps/console/terminal";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { keepHeapSmall } from "@steps/platform/runtime";
import { daemonStateFlags, databaseFlags, listenFlags, pollFlags } from "../pod-flags.ts";
import { readPods } from "../read-pods.ts";
import { stateDirectory } from "../state-directory.ts";

const flags = {
  config: flag.path({
    placeholder: "FILE",
    summary:
      "The pods with their numbers and URLs: the file of the router; its key daemon may have flags of this command",
    env: "POD_ROUTER_CONFIG",
  }),
  ...listenFlags("POD_DAEMON", { port: "8928", clients: "routers and pods" }),
  url: flag.text({
    placeholder: "URL",
    summary: "The URL at which pods reach the daemon, if it is another one",
    env: "POD_DAEMON_URL",
  }),
  ...databaseFlags("POD_DAEMON", "daemon"),
  ...daemonStateFlags,
  ...grouped("Jobs", {
    ...pollFlags("POD_DAEMON"),
  }),
  ...logFlags("POD_DAEMON"),
  ...drainFlags("POD_DAEMON", {
    summary: "How long calls that are under way may take when the daemon is told to stop",
    default: "10s",
  }),
};
type Options = OptionsOf<typeof flags>;

export const daemon = defineCommand({
  name: "daemon",
  summary: "Give the jobs of several pods to runners of the whole cluster",
  usage: "--config FILE [flags]",
  description: [
    "Runners of a daemon take jobs of all pods that are linked to it. The daemon finds a job among the offers of the pods and claims it at its " +
      "pod, which has the last word; whatever the job does then goes to its pod. What the daemon knows of jobs it can lose at any time: the " +
      "pods tell it again. Its runners are its own.",
    'Runners reach it by the router, for which the daemon is number 0 in the file. "pod create-link" connects a pod, and "pod create-runner" ' +
      "with --state-dir or --url of the daemon makes a runner.",
  ],
  flags,
  settings: settingsOfKey("daemon"),
  positionals: { min: 0, max: 0 },
  examples: [
    ["pod daemon --config router.yml", "a daemon of this machine, with nothing more to set up"],
    ["pod daemon --config router.yml --database postgres://daemon@db/daemon", "a process of one that may have several"],
  ],
  run,
});

async function run(options: Options): Promise<number> {
  const { config: path, host, port } = options;
  if (path === undefined) throw new UsageError("--config is missing", "Name the file with the pods of the daemon.");
  const config = await readPods(path);
  if (config === undefined) return COMMAND_EXITS.input.code;
  keepHeapSmall();
  const { serveDaemon } = await import("@steps/pods");
  using stop = new StopSignals();
  const log = openLog(options);
  const served = await serveDaemon(
    {
      pods: new Map(Array.from(config.pods.values(), ({ number, url }) => [number, url])),
      stateDir: options.stateDir ?? stateDirectory(process.env, "pod-daemon"),
      databaseUrl: options.database,
      url: options.url,
      pollHoldMs: options.pollHold,
      log,
    },
    { host, port },
  );
  log("info", `The daemon is listening at ${served.url}`, { pid: process.pid });
  await stop.asked();
  await served.stop({ drainMs: options.drainTimeout, hurry: stop.hurry });
  return 0;
}
