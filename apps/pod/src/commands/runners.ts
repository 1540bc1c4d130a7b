import { defineCommand } from "@steps/console";
import { print } from "@steps/console/terminal";
import type { RunnerView } from "@steps/pods";
import { adminClient } from "../admin-client.ts";
import { podFlags } from "../pod-flags.ts";
import { formatJson, formatTable } from "../table.ts";

export const runners = defineCommand({
  name: "runners",
  summary: "List the runners with what they take and whether they are there",
  usage: "[flags]",
  flags: podFlags,
  positionals: { min: 0, max: 0 },
  examples: [["pod runners", "the runners of this machine's pod"]],
  async run(options) {
    const list = await adminClient(options).call<readonly RunnerView[]>("GET", "/runners");
    const head = ["ID", "KIND", "STATE", "RUNNING", "MACHINES", "TAGS", "FOR", "DESCRIPTION"];
    await print(options.report === "json" ? formatJson(list) : formatTable([head, ...list.map(rowOf)]));
    return 0;
  },
});

function rowOf(runner: RunnerView): readonly string[] {
  const { id, kind, paused, online, running, managers, tags, run_untagged: untagged, group, projects } = runner;
  const state = paused ? "paused" : online ? "online" : managers.length === 0 ? "never seen" : "offline";
  const what = [...tags, ...(untagged ? ["(untagged)"] : [])].join(",");
  const whose = kind === "instance" ? "all projects" : (group ?? projects.join(","));
  return [
    String(id),
    kind,
    state,
    String(running),
    String(managers.length),
    what,
    runner.protected ? `${whose}, protected` : whose,
    runner.description,
  ];
}
