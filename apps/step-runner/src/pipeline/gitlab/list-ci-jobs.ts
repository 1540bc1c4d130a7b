import { isGate, type JudgedPipeline, type JudgedPipelineJob } from "@steps/gitlab-ci/pipeline";
import type { LoadedPipeline } from "@steps/gitlab-ci/load";
import type { GraphJob } from "@steps/pipeline";
import { spanPosition, type YamlNode } from "@steps/source";
import type { ListedJob } from "../print/listed-job.ts";

/** Every job of a CI file by its stage, with the rule that lets it in or keeps it out. */
export function listCiJobs(
  { stages }: Pick<LoadedPipeline, "stages">,
  { workflow, jobs }: JudgedPipeline,
  planned: readonly GraphJob[],
): readonly ListedJob[] {
  const needsOf = new Map(planned.map(({ id, needs }) => [id, needs.some(isGate) ? undefined : needs]));
  const ranks = new Map(stages.map((stage, index) => [stage, index]));
  const rankOf = ({ job }: JudgedPipelineJob): number => ranks.get(job.stage) ?? 0;
  const ordered = [...jobs.values()].toSorted((a, b) => rankOf(a) - rankOf(b));
  const out = workflow?.isIn === false ? workflow : undefined;
  return ordered.map((judged): ListedJob => {
    const { job, decision } = judged;
    const { allowFailure } = decision;
    return {
      job: job.name,
      stage: job.stage,
      isIn: out === undefined && decision.isIn,
      when: out === undefined ? whenOf(judged) : "never",
      allowFailure: typeof allowFailure === "boolean" ? allowFailure : allowFailure.exitCodes,
      needs: needsOf.get(job.name),
      reason: out === undefined ? decision.reason : `No pipeline runs: ${out.reason}`,
      place: placeOf((out === undefined ? deciderOf(judged) : undefined) ?? job.key),
      isReasonWritten: out !== undefined || deciderOf(judged) !== undefined,
    };
  });
}

function whenOf({ decision: { when, startIn } }: JudgedPipelineJob): string {
  return when === "delayed" && startIn !== undefined ? `delayed ${startIn}` : when;
}

// The part of the file that decided. Absent where nothing was written about it.
function deciderOf({ job, decision: { by } }: JudgedPipelineJob): YamlNode | undefined {
  if (by.kind === "rule") return by.rule.node;
  if (by.kind === "problem") return by.node;
  if (by.kind === "no-rule") return job.keywords.get("rules")?.key;
  return by.kind !== "nothing" && by.policy.isWritten ? by.policy.node : undefined;
}

function placeOf(node: YamlNode): string {
  const { source, line } = spanPosition(node);
  return `${source.name}:${line}`;
}
