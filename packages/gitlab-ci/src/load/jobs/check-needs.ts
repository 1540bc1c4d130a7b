import { nearest, quote } from "@steps/model/diagnostic";
import type { YamlNode } from "@steps/source";
import { readPsychScalar } from "../../psych.ts";
import type { CiReport } from "../../ci-rules.ts";
import type { LoadedJob } from "../loaded-pipeline.ts";
import { isList, isMapping, stringOf } from "../nodes.ts";
import type { Jobs } from "./build-jobs.ts";

/** Reports every name in `needs` and `dependencies` that is no job's. */
export function checkNeeds(all: Jobs, report: CiReport): void {
  const seen = new Set<YamlNode>();
  for (const [job] of all.groups.values()) {
    for (const keyword of ["needs", "dependencies"] as const) {
      const node = job?.own.get(keyword)?.value;
      if (job === undefined || node === undefined || seen.has(node)) continue;
      seen.add(node);
      for (const named of namesIn(node)) checkName(named, { job, keyword, all }, report);
    }
  }
}

interface Named {
  readonly name: string;
  readonly node: YamlNode;
}

function* namesIn(node: YamlNode): Generator<Named> {
  if (isList(node)) {
    for (const item of node.items) yield* namesIn(item);
    return;
  }
  const isForeign = isMapping(node) && (node.entries.has("pipeline") || node.entries.has("project"));
  if (isForeign || (isMapping(node) && isTrue(node.entries.get("optional")?.value))) return;
  const at = isMapping(node) ? node.entries.get("job")?.value : node;
  const name = stringOf(at);
  if (at !== undefined && name !== undefined) yield { name, node: at };
}

function isTrue(node: YamlNode | undefined): boolean {
  return node?.kind === "scalar" && readPsychScalar(node).text === "true";
}

function checkName(
  { name, node }: Named,
  { job, keyword, all }: { readonly job: LoadedJob; readonly keyword: string; readonly all: Jobs },
  report: CiReport,
): void {
  if (all.groups.has(name) || all.jobs.has(name)) return;
  report.error(node, () => {
    const guess = nearest(name, all.groups.keys());
    return {
      code: "unknown-needed-job",
      message: `"${keyword}" of the job ${quote(job.groupName)} names ${quote(name)}, which does not exist`,
      hint: guess === undefined ? undefined : `Did you mean ${quote(guess)}?`,
    };
  });
}
