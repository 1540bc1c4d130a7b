import { defineCommand, UsageError } from "@steps/console";
import { print } from "@steps/console/terminal";
import { adminClient } from "../admin-client.ts";
import { daemonFlags } from "../pod-flags.ts";
import { stateDirectory } from "../state-directory.ts";
import { formatJson } from "../table.ts";

/** A link as the daemon tells it. */
interface CreatedLink {
  readonly pod: number;
  readonly pod_url: string;
  readonly daemon_url: string;
  readonly token: string;
}

export const createLink = defineCommand({
  name: "create-link",
  summary: "Connect a pod to the daemon: print the token of their link and how the pod is started with it",
  usage: "POD [flags]",
  description: [
    "POD is the number of a pod in the daemon's file. The token lets the pod offer its jobs to the daemon, and the daemon claim them; it opens " +
      "no other pod, and stays the same.",
  ],
  flags: daemonFlags,
  positionals: { min: 1, max: 1 },
  examples: [["pod create-link 2", "for pod 2, with the daemon of this machine"]],
  async run(options, [pod = ""]) {
    if (!/^[1-9]\d{0,3}$/.test(pod)) throw new UsageError(`"${pod}" is no number of a pod`, "Pods have 1 to 9000.");
    const stateDir = options.stateDir ?? stateDirectory(process.env, "pod-daemon");
    const link = await adminClient({ ...options, stateDir }).call<CreatedLink>("POST", `/links/${pod}`);
    await print(options.report === "json" ? formatJson(link) : describe(link));
    return 0;
  },
});

function describe({ pod, pod_url: url, daemon_url: daemon, token }: CreatedLink): string {
  return `Start pod ${pod}, which the daemon looks for at ${url}, with its link:
  POD_DAEMON_TOKEN=${token} pod serve --pod ${pod} --daemon ${daemon}
`;
}
