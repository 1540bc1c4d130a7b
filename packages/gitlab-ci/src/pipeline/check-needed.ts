import { quote } from "@steps/model/diagnostic";
import { graphProblems } from "@steps/pipeline";
import type { CiReport } from "../ci-rules.ts";
import type { LoadedJob, LoadedPipeline } from "../load/loaded-pipeline.ts";
import type { PlannedJob } from "./decide-start.ts";

/** How many instances of a job a message names. */
const SHOWN = 5;

/**
 * Reports needs that GitLab makes no pipeline with: a job that its rules keep out, since whoever needs it would wait for ever, one of a
 * later stage, and jobs that need each other.
 */
export function checkNeeded(
  { stages, groups }: Pick<LoadedPipeline, "stages" | "groups">,
  planned: readonly PlannedJob[],
  report: CiReport,
): void {
  const ranks = new Map(stages.map((stage, index) => [stage, index]));
  const byName = new Map(planned.map((one) => [one.job.name, one]));
  const rankOf = ({ job }: PlannedJob): number => ranks.get(job.stage) ?? 0;
  for (const one of planned) {
    const { job, needs = [] } = one;
    for (const { job: name, isOptional, node } of needs) {
      const needed = byName.get(name);
      if (needed === undefined && !isOptional) {
        report.error(node, {
          code: "unknown-needed-job",
          ...missingNeed(job.name, name, groups.get(name) ?? []),
        });
      } else if (needed !== undefined && rankOf(needed) > rankOf(one)) {
        report.error(node, {
          code: "late-needed-job",
          message: `The job ${quote(job.name)} needs ${quote(name)}, which is in a later stage: ${quote(needed.job.stage)}`,
        });
      }
    }
  }
  if (!report.hasErrors) checkCircles(byName, report);
}

function missingNeed(
  job: string,
  needed: string,
  instances: readonly LoadedJob[],
): { readonly message: string; readonly hint: string } {
  const names = instances.map(({ name }) => name);
  // The name of a job with instances is left where none of them has the values that are asked for.
  if (names.length > 0 && !names.includes(needed)) {
    const shown = `${names.slice(0, SHOWN).map(quote).join(", ")}${names.length > SHOWN ? ", …" : "."}`;
    return {
      message: `The job ${quote(job)} needs an instance of ${quote(needed)} that there is not`,
      hint: `Its instances are ${shown}`,
    };
  }
  return {
    message: `The job ${quote(job)} needs ${quote(needed)}, which is not in the pipeline`,
    hint: `Its rules keep it out: write {job: ${JSON.stringify(needed)}, optional: true} if ${quote(job)} can do without it.`,
  };
}

function checkCircles(planned: ReadonlyMap<string, PlannedJob>, report: CiReport): void {
  const graph = [...planned].map(([id, { needs = [] }]) => {
    return { id, needs: needs.map(({ job }) => job).filter((job) => planned.has(job)) };
  });
  for (const problem of graphProblems(graph)) {
    if (problem.kind !== "circle") continue;
    const [first = ""] = problem.jobs;
    report.error(planned.get(first)?.job.key, {
      code: "circular-needs",
      message: `These jobs need each other: ${[...problem.jobs, first].map(quote).join(" → ")}`,
    });
  }
}
