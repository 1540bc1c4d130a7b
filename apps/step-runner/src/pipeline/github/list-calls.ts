import { planWorkflow } from "@steps/github-compiler/pipeline";
import { formatDiagnostic } from "@steps/model/diagnostic";
import type { ListedJob } from "../print/listed-job.ts";
import type { CalledWorkflows } from "./called-workflows.ts";
import { MAX_LEVELS } from "./check-calls.ts";
import { type ListedCall, listWorkflow } from "./list-workflow.ts";
import type { Workflow } from "./workflow-context.ts";

/** Jobs that a list may have, with those of all workflows that are called. */
const MAX_LISTED = 10_000;

/** The workflow whose jobs are listed. */
export type ListedWorkflow = Pick<Workflow, "plan" | "origin" | "facts"> & {
  /** The names of the workflows that lead to it, and its own. */
  readonly way: readonly string[];
};

/** The state that the lists of all called workflows share. */
export interface Listing {
  readonly workflows: CalledWorkflows;
  readonly signal: AbortSignal;
  /** The number of jobs that were listed. */
  count: number;
}

/** Lists the jobs of a workflow, and behind each call those of the workflow that it calls: `caller / job`. */
export async function listWithCalls(
  workflow: ListedWorkflow,
  jobs: Workflow["plan"]["jobs"],
  listing: Listing,
): Promise<readonly ListedJob[]> {
  listing.count += jobs.length;
  return await listWorkflow(jobs, async (one) => {
    const call = workflow.plan.calls.find(({ jobId }) => jobId === one.jobId);
    if (call === undefined) return [];
    if (workflow.way.length > MAX_LEVELS) return `Workflows call each other more than ${MAX_LEVELS} levels deep`;
    const found = await listing.workflows.get(call, workflow.origin, listing.signal);
    if ("problem" in found) return found.problem.message;
    if (workflow.way.includes(found.source.name)) return "Workflows call each other";
    const plan = planWorkflow({ source: found.source, ...factsOf(workflow, one), isCalled: true });
    const error = plan.diagnostics.find(({ severity }) => severity === "error");
    if (error !== undefined) return formatDiagnostic(error);
    if (listing.count + plan.jobs.length > MAX_LISTED) return `A list has at most ${MAX_LISTED} jobs`;
    const called = { ...workflow, plan, origin: found.origin, way: [...workflow.way, found.source.name] };
    return await listWithCalls(called, plan.jobs, listing);
  });
}

function factsOf(
  { facts }: ListedWorkflow,
  { work }: ListedCall,
): ListedWorkflow["facts"] & { hasUnknownInputs: boolean } {
  return { ...facts, inputs: { ...work?.inputs }, hasUnknownInputs: work === undefined };
}
