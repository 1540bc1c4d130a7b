import { defineCommand, flag, type OptionsOf, UsageError } from "@steps/console";
import { StopSignals } from "@steps/console/terminal";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { logTo } from "../log-to.ts";
import { readPods } from "../read-pods.ts";
import { reportFlags } from "../pod-flags.ts";

const flags = {
  config: flag.path({
    placeholder: "FILE",
    summary: "The pods with their numbers and URLs, in YAML or JSON",
    env: "POD_ROUTER_CONFIG",
  }),
  host: flag.text({
    placeholder: "ADDRESS",
    summary: "The address to listen on; 0.0.0.0 for runners on other machines",
    default: "127.0.0.1",
    env: "POD_ROUTER_HOST",
  }),
  port: flag.integer({
    summary: "The port to listen on; 0 for any that is free",
    default: "8930",
    max: 65_535,
    env: "POD_ROUTER_PORT",
  }),
  drain: flag.duration({
    summary: "How long requests that are under way may take when the router is told to stop",
    default: "10s",
    env: "POD_ROUTER_DRAIN",
  }),
  ...reportFlags,
};
type Options = OptionsOf<typeof flags>;

export const router = defineCommand({
  name: "router",
  summary: "Give several pods one address: send each request to the pod that it belongs to",
  usage: "--config FILE [flags]",
  description: [
    "The pod is found by the tokens of a request, by a path like /pods/2/…, or by the id of a job. What cannot be delivered is answered " +
      "with 503, so that runners ask again.",
    "A router keeps nothing: start as many as you like with one file, and stop them at any time. Its health is at /-/router/health, and " +
      "what it counts at /-/router/metrics.",
  ],
  flags,
  positionals: { min: 0, max: 0 },
  examples: [
    ["pod router --config router.yml", "a router of this machine"],
    ["pod router --config router.yml --host 0.0.0.0 --port 80", "a router for runners of other machines"],
  ],
  run,
});

async function run({ config: path, host, port, drain, report }: Options): Promise<number> {
  if (path === undefined) throw new UsageError("--config is missing", "Name the file with the pods of the router.");
  const config = await readPods(path);
  if (config === undefined) return COMMAND_EXITS.input.code;
  const { startRouter } = await import("@steps/pod-router");
  using stop = new StopSignals();
  const log = logTo(report);
  const started = await startRouter(config, {
    host,
    port,
    log: ({ message, ...facts }) => log("warning", String(message), facts),
  });
  log("info", `The router of ${config.pods.size} pods is listening at ${started.url}`, { pid: process.pid });
  await stop.asked();
  await started.close(drain);
  return 0;
}
