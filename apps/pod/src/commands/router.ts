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
import { listenFlags } from "../pod-flags.ts";
import { readPods } from "../read-pods.ts";

const flags = {
  config: flag.path({
    placeholder: "FILE",
    summary: "The pods with their numbers and URLs, in YAML or JSON; its key router may have flags of this command",
    env: "POD_ROUTER_CONFIG",
  }),
  ...listenFlags("POD_ROUTER", { port: "8930", clients: "runners" }),
  ...logFlags("POD_ROUTER"),
  ...grouped("Operation", {
    "metrics-listen": flag.text({
      placeholder: "ADDRESS:PORT",
      summary:
        "The address of the figures for Prometheus, at /metrics, which clients should not reach; none by default",
      env: "POD_ROUTER_METRICS_LISTEN",
    }),
  }),
  ...drainFlags("POD_ROUTER", {
    summary: "How long requests that are under way may take when the router is told to stop",
    default: "10s",
  }),
};
type Options = OptionsOf<typeof flags>;

export const router = defineCommand({
  name: "router",
  summary: "Give several pods one address: send each request to the pod that it belongs to",
  usage: "--config FILE [flags]",
  description: [
    "The pod is found by the tokens of a request, by a path like /pods/2/…, or by the id of a job. What cannot be delivered is answered " +
      "with 503, so that runners ask again.",
    "A router keeps nothing: start as many as you like with one file, and stop them at any time. Its health is at /-/router/health.",
  ],
  flags,
  settings: settingsOfKey("router"),
  positionals: { min: 0, max: 0 },
  examples: [
    ["pod router --config router.yml", "a router of this machine"],
    [
      "pod router --config router.yml --host 0.0.0.0 --port 80 --metrics-listen 127.0.0.1:9131",
      "a router for runners of other machines, and its figures for a Prometheus of this one",
    ],
  ],
  run,
});

async function run(options: Options): Promise<number> {
  const { config: path, host, port } = options;
  if (path === undefined) throw new UsageError("--config is missing", "Name the file with the pods of the router.");
  const metrics = addressOf(options.metricsListen);
  const config = await readPods(path);
  if (config === undefined) return COMMAND_EXITS.input.code;
  const { startRouter } = await import("@steps/pod-router");
  using stop = new StopSignals();
  const log = openLog(options);
  const started = await startRouter(config, { host, port, metrics, log });
  log("info", `The router of ${config.pods.size} pods is listening at ${started.url}`, {
    pid: process.pid,
    metrics: started.metricsUrl,
  });
  await stop.asked();
  await started.close(options.drainTimeout, stop.hurry);
  return 0;
}

/** Reads `ADDRESS:PORT`, where an address of IPv6 stands in brackets. */
function addressOf(text: string | undefined): { readonly host: string; readonly port: number } | undefined {
  if (text === undefined) return undefined;
  const { six, name, port } =
    /^(?:\[(?<six>[\da-f:.]+)\]|(?<name>[\w.-]+)):(?<port>\d{1,5})$/i.exec(text)?.groups ?? {};
  const host = six ?? name;
  if (host === undefined || Number(port) > 65_535)
    throw new UsageError(`--metrics-listen is "${text}"`, "Write an address and a port, such as 127.0.0.1:9131.");
  return { host, port: Number(port) };
}
