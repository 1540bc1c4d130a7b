import type { JobResult, JobResults, PipelineJob } from "@steps/pipeline";
import { isPassed } from "@steps/pipeline";
import type { PlannedJob } from "./decide-start.ts";

// No job can have such a name, since a line feed ends a key of YAML's block form and GitLab takes 255 characters.
const GATE = "\nstages before ";

/** The need of a job that runs after all stages before its own; none in the first stage. @param rank the place of its stage, from 0 */
export function gateOf(rank: number): readonly string[] {
  return rank === 0 ? [] : [`${GATE}${rank}`];
}

/** Whether a job of the schedule is a gate, which nobody wants to see. */
export function isGate(id: string): boolean {
  return id.startsWith(GATE);
}

/**
 * The gates between the stages: a gate ends when the jobs of the stage before it and the gate before that have ended. It failed or
 * is blocked if any of them is.
 */
export function stageGates(
  stages: readonly string[],
  planned: readonly PlannedJob[],
): readonly PipelineJob<PlannedJob>[] {
  const members = new Map(stages.map((stage): [string, string[]] => [stage, []]));
  for (const { job } of planned) members.get(job.stage)?.push(job.name);
  return stages.slice(0, -1).map((stage, index): PipelineJob<PlannedJob> => {
    const needs = [...(members.get(stage) ?? []), ...gateOf(index)];
    const [id = ""] = gateOf(index + 1);
    return { id, needs, decide: (results) => ({ result: resultOfGate(needs, results) }) };
  });
}

function resultOfGate(needs: readonly string[], results: JobResults): JobResult {
  const found = needs.flatMap((need) => results.get(need) ?? []);
  const failed = found.find((result) => result.status === "failure" && !isPassed(result));
  const blocked = found.find(({ isBlocking }) => isBlocking === true);
  return failed ?? blocked ?? { status: "success" };
}
