import { type CallWork, planWorkflow, secretsOfCall, waitsForEver } from "@steps/github-compiler/pipeline";
import { formatDiagnostic } from "@steps/model/diagnostic";
import type { JobResult } from "@steps/pipeline";
import { pipelineExitCode, SEPARATOR, statusOf } from "@steps/pipeline-view";
import { enterGroup } from "../enter-group.ts";
import type { PipelineContext } from "../pipeline-context.ts";
import { MAX_LEVELS } from "./check-calls.ts";
import type { InstanceOf, RunJobs, Workflow, WorkflowContext } from "./workflow-context.ts";

/** Jobs that one run may have, with those of all workflows that it calls. */
const MAX_JOBS = 100_000;

interface Call extends InstanceOf<CallWork> {
  readonly caller: Workflow;
  readonly run: RunJobs;
}

/** Runs the jobs of a workflow that a job calls. */
export async function runCall(
  context: WorkflowContext,
  { caller, work, of, run }: Call,
  signal: AbortSignal,
): Promise<JobResult> {
  const workflow = await readCalled(context, { caller, work, of }, signal);
  if (typeof workflow === "string") return { status: "failure", reason: workflow };
  const { plan } = workflow;
  const results = await inGroup(context, plan.group, {
    run: () => run(context, workflow, plan.jobs, signal),
    signal,
  });
  const status = statusOf(results);
  const outputs = plan.outputsOf(results);
  if (status !== "failure") return { status, outputs };
  return { status, outputs, reason: "A job of it failed", exitCode: pipelineExitCode(results, undefined) };
}

// Gives a sentence when the workflow cannot be run.
async function readCalled(
  { workflows, count }: WorkflowContext,
  { caller, work, of }: Omit<Call, "run">,
  signal: AbortSignal,
): Promise<Workflow | string> {
  const call = caller.plan.calls.find(({ jobId }) => jobId === work.jobId);
  if (call === undefined || caller.depth >= MAX_LEVELS)
    return `Workflows call each other more than ${MAX_LEVELS} levels deep`;
  const found = await workflows.get(call, caller.origin, signal);
  if ("problem" in found) return formatDiagnostic(found.problem);
  const held = work.group === undefined ? caller.heldGroups : new Set([...caller.heldGroups, work.group]);
  const facts = { ...caller.facts, inputs: { ...work.inputs } };
  const plan = planWorkflow({ source: found.source, ...facts, isCalled: true, heldGroups: held });
  const error = plan.diagnostics.find(({ severity }) => severity === "error");
  if (error !== undefined) return formatDiagnostic(error);
  if (plan.group !== undefined && held.has(plan.group)) return waitsForEver(plan.group);
  count.jobs += plan.jobs.length;
  if (count.jobs > MAX_JOBS) return `The pipeline has more than ${MAX_JOBS} jobs`;
  const { github, inputs, vars } = caller.facts;
  return {
    ...found,
    plan,
    facts,
    secrets: secretsOfCall(work, caller.secrets, { github: { ...github }, inputs: { ...inputs }, vars: { ...vars } }),
    path: `${caller.path}${of.instance}${SEPARATOR}`,
    heldGroups: plan.group === undefined ? held : new Set([...held, plan.group]),
    depth: caller.depth + 1,
  };
}

/** Runs the jobs of a workflow in its concurrency group. If it is cancelled while it waits, its jobs end as cancelled. */
export async function inGroup<Result>(
  context: PipelineContext,
  name: string | undefined,
  { run, signal }: { readonly run: () => Promise<Result>; readonly signal: AbortSignal },
): Promise<Result> {
  if (name === undefined) return run();
  const leave = await enterGroup(context, { language: "github", name }, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  try {
    return await run();
  } finally {
    await leave?.();
  }
}
