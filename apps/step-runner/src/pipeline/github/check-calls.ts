import { type PlannedWorkflow, planWorkflow, type WorkflowCall } from "@steps/github-compiler/pipeline";
import { type Diagnostic, hasErrors } from "@steps/model/diagnostic";
import type { WorkflowFacts } from "../../input/read-workflow-job.ts";
import type { CalledWorkflows, WorkflowOrigin } from "./called-workflows.ts";

/** GitHub's limits: levels of workflows that call each other, and different workflows that are called. */
export const MAX_LEVELS = 10;
const MAX_WORKFLOWS = 50;

/** The input of the check of a tree of calls. */
export interface CallChecking {
  readonly workflows: CalledWorkflows;
  readonly facts: WorkflowFacts;
  readonly signal: AbortSignal;
}

interface Level {
  readonly calls: readonly WorkflowCall[];
  readonly origin: WorkflowOrigin;
  /** The names of the workflows that lead here, the outermost first. */
  readonly way: readonly string[];
}

/**
 * Gets every workflow that the jobs call, directly or not, and checks it with its calls, so that nothing runs of a pipeline that
 * cannot be run as a whole.
 */
export async function checkCalls(
  checking: CallChecking,
  calls: readonly WorkflowCall[],
  start: { readonly name: string; readonly origin: WorkflowOrigin },
): Promise<readonly Diagnostic[]> {
  const checked = new Map<string, PlannedWorkflow>();
  const problems: Diagnostic[] = [];
  const walk = async ({ calls: here, origin, way }: Level): Promise<void> => {
    for (const call of here) {
      const called = await checking.workflows.get(call, origin, checking.signal);
      if ("problem" in called) {
        problems.push(called.problem);
        continue;
      }
      const { source } = called;
      const obstacle = obstacleOf({ name: source.name, way, count: checked.size, isNew: !checked.has(source.name) });
      if (obstacle !== undefined) {
        problems.push(call.missing(obstacle));
        continue;
      }
      const known = checked.get(source.name);
      const plan = known ?? planWorkflow({ source, ...checking.facts, isCalled: true, hasUnknownInputs: true });
      if (known === undefined) {
        checked.set(source.name, plan);
        problems.push(...plan.diagnostics);
      }
      if (!hasErrors(plan.diagnostics)) problems.push(...call.check(plan.callable));
      if (known === undefined) await walk({ calls: plan.calls, origin: called.origin, way: [...way, source.name] });
    }
  };
  await walk({ calls, origin: start.origin, way: [start.name] });
  return problems;
}

function obstacleOf({
  name,
  way,
  count,
  isNew,
}: {
  readonly name: string;
  readonly way: readonly string[];
  readonly count: number;
  readonly isNew: boolean;
}): string | undefined {
  if (way.includes(name)) return `Workflows call each other: ${[...way.slice(way.indexOf(name)), name].join(" → ")}`;
  if (way.length >= MAX_LEVELS) return `Workflows call each other more than ${MAX_LEVELS} levels deep`;
  return isNew && count >= MAX_WORKFLOWS ? `The pipeline calls more than ${MAX_WORKFLOWS} workflows` : undefined;
}
