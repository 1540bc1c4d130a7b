import { childOf } from "@steps/source";
import { type Contexts, evaluateCondition, GithubExpressionError, type StatusFacts } from "@steps/github-language";
import type { Value } from "@steps/model";
import { formatDiagnostic } from "@steps/model/diagnostic";
import type { Decision, Instance, JobResult } from "@steps/pipeline";
import { evaluateTree } from "../reading/evaluate.ts";
import { createReading, type Reading } from "../reading/reading.ts";
import { conditionOf } from "../reading/templates.ts";
import { shownNames } from "../workflow/choose-instance.ts";
import { type JobInstance, readInstances } from "../workflow/job-instances.ts";
import { type CompiledWorkflowJob, compileInstance, finishJob } from "../workflow/compile-job.ts";
import type { JobEntry, WorkflowFile } from "../workflow/workflow-file.ts";
import { readCall } from "./read-call.ts";
import { readGroup, waitsForEver } from "./read-group.ts";
import type { WorkflowWork } from "./workflow-work.ts";

/** The facts about a job whose needs have ended. */
export interface JobMoment {
  readonly contexts: Readonly<Record<string, Value>> & { readonly needs: Readonly<Record<string, Value>> };
  readonly status: StatusFacts;
  /** The concurrency groups that the workflow and its callers hold. */
  readonly heldGroups: ReadonlySet<string>;
}

/**
 * Decides whether a job runs, and as which instances: its condition, then its matrix, then what belongs to each instance. A
 * mistake that only shows now is a failure of the job.
 */
export function decideJob(file: WorkflowFile, job: JobEntry, moment: JobMoment): Decision<WorkflowWork> {
  const reading = createReading("workflow");
  const excluded = excludedBy(reading, job, moment);
  if (excluded !== undefined) return { result: excluded };
  const instances = readInstances(reading, job, moment.contexts) ?? [];
  const names = shownNames(instances);
  const planned = instances.map((instance, index) =>
    planInstance(reading, file, { job, instance, moment, name: names[index] ?? "" }),
  );
  if (reading.report.hasErrors) return { result: failureOf(reading) };
  const held = planned.find(({ group }) => group !== undefined && moment.heldGroups.has(group))?.group;
  if (held !== undefined) return { result: { status: "failure", reason: waitsForEver(held) } };
  const { strategy } = instances[0] ?? {};
  const maxParallel = strategy?.["max-parallel"];
  return {
    run: {
      instances: planned,
      maxParallel: typeof maxParallel === "number" ? Math.max(1, maxParallel) : undefined,
      isFailFast: strategy?.["fail-fast"] !== false,
    },
  };
}

function excludedBy(reading: Reading, job: JobEntry, { contexts, status }: JobMoment): JobResult | undefined {
  const node = childOf(job.value, "if");
  const condition =
    node === undefined ? undefined : conditionOf(reading, node, { what: `"if" of the job`, at: "job-if" });
  if (reading.report.hasErrors) return failureOf(reading);
  try {
    const { holds, explanation } = evaluateCondition(condition, { contexts, status });
    if (holds) return undefined;
    if (status.isCancelled) return { status: "cancelled", reason: "The workflow was cancelled" };
    return {
      status: "skipped",
      reason: status.isSuccess ? `Its condition does not hold: ${explanation}` : notAllPassed(contexts.needs),
    };
  } catch (error) {
    if (!(error instanceof GithubExpressionError)) throw error;
    reading.report.error(node, { code: "invalid-expression", message: error.message, hint: error.hint });
    return failureOf(reading);
  }
}

function notAllPassed(needs: Readonly<Record<string, Value>>): string {
  const blame = Object.entries(needs).flatMap(([id, need]) => {
    const { result } = need as { readonly result: string };
    return result === "success" ? [] : [`"${id}" ended as ${result}`];
  });
  return blame.length > 0
    ? `It needs jobs that did not succeed: ${blame.join(", ")}`
    : "A job before it did not succeed";
}

interface PlannedInstance {
  readonly job: JobEntry;
  readonly instance: JobInstance;
  readonly name: string;
  readonly moment: JobMoment;
}

function planInstance(
  reading: Reading,
  file: WorkflowFile,
  { job, instance, name, moment }: PlannedInstance,
): Instance<WorkflowWork> {
  const { contexts } = moment;
  const own: Record<string, Value> = {
    ...contexts,
    strategy: { ...instance.strategy },
    matrix: instance.matrix === undefined ? null : { ...instance.matrix },
  };
  const common = { jobId: job.id, needs: contexts.needs, isAllowedToFail: isAllowedToFail(reading, job, own) };
  const group = groupOf(reading, job, own);
  const call = job.value.entries.has("uses") ? readCall(reading, job, own) : undefined;
  if (call !== undefined)
    return { name: instance.name, group, holdsNoPlace: true, work: { kind: "call", ...common, group, ...call } };
  const compile = (github: Readonly<Record<string, Value>>): CompiledWorkflowJob => {
    const inner = createReading("workflow");
    const chosen = { job, instance, contexts: { ...contexts, github: { ...github } }, isInPipeline: true };
    return finishJob(inner, compileInstance(inner, file, chosen));
  };
  return { name: instance.name, group, work: { kind: "steps", ...common, jobName: name, compile } };
}

function isAllowedToFail(reading: Reading, job: JobEntry, contexts: Contexts): boolean {
  const node = childOf(job.value, "continue-on-error");
  const place = { what: `"continue-on-error" of the job`, at: "job-continue-on-error", contexts } as const;
  return node?.kind === "scalar" && evaluateTree(reading, node, place) === true;
}

function groupOf(reading: Reading, job: JobEntry, contexts: Contexts): string | undefined {
  const place = { what: `"concurrency" of the job`, at: "job-concurrency", contexts } as const;
  return readGroup(reading, childOf(job.value, "concurrency"), place);
}

function failureOf(reading: Reading): JobResult {
  const first = reading.report.finish().find(({ severity }) => severity === "error");
  return { status: "failure", reason: first === undefined ? "The job is malformed" : formatDiagnostic(first) };
}
