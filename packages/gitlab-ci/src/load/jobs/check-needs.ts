import { nearest, quote } from "@steps/model/diagnostic";
import type { YamlNode } from "@steps/source";
import { readPsychScalar } from "../../psych.ts";
import type { CiReport } from "../../ci-rules.ts";
import type { LoadedJob } from "../loaded-pipeline.ts";
import { ownMatrixName } from "./matrix-name.ts";
import { isList, isMapping, stringOf } from "../nodes.ts";
import type { Jobs } from "./build-jobs.ts";

/** Reports every name in `needs` and `dependencies` that is no job's. */
export function checkNeeds(all: Jobs, report: CiReport): void {
  const seen = new Set<YamlNode>();
  for (const members of all.groups.values()) {
    const [job] = members;
    for (const keyword of ["needs", "dependencies"] as const) {
      const node = job?.own.get(keyword)?.value;
      if (job === undefined || node === undefined || seen.has(node)) continue;
      seen.add(node);
      for (const named of namesIn(node)) checkName(named, { job, keyword, all }, report);
      if (keyword === "needs") checkMatrixNames(node, matrixOf(job, members), report);
    }
  }
}

/** Reports `$[[ matrix.NAME ]]` in `needs:parallel:matrix` where the matrix of the job itself has no such name. */
function checkMatrixNames(node: YamlNode, matrix: Matrix, report: CiReport): void {
  if (node.kind === "scalar") {
    const name = ownMatrixName(node);
    if (name === undefined || matrix.names().has(name)) return;
    report.error(node, () => {
      const known = [...matrix.names()];
      const guess = nearest(name, known);
      const list = known.length === 0 ? "It has no matrix." : `Its names are ${known.map(quote).join(", ")}.`;
      return {
        code: "invalid-interpolation",
        message: `The matrix of the job ${quote(matrix.job.groupName)} has no ${quote(name)}`,
        hint: guess === undefined ? list : `Did you mean ${quote(guess)}?`,
      };
    });
    return;
  }
  const inner = node.kind === "list" ? node.items : [...node.entries.values()].map(({ value }) => value);
  for (const child of inner) checkMatrixNames(child, matrix, report);
}

interface Matrix {
  readonly job: LoadedJob;
  /** The names of all of its combinations, which may differ. */
  readonly names: () => ReadonlySet<string>;
}

function matrixOf(job: LoadedJob, members: readonly LoadedJob[]): Matrix {
  return { job, names: () => new Set(members.flatMap(({ instance }) => [...(instance?.variables.keys() ?? [])])) };
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
