import type { GithubDiagnostic } from "../action-rules.ts";
import { childOf, type YamlMapping } from "@steps/source";
import type { Contexts } from "@steps/github-language";
import { createObject, type Value } from "@steps/model";
import type { JobResults, PipelineJob } from "@steps/pipeline";
import { readTexts } from "../reading/read-texts.ts";
import { createReading, type Reading } from "../reading/reading.ts";
import { textOf } from "../reading/texts.ts";
import { earlyContexts } from "../workflow/compile-job.ts";
import { readWorkflow } from "../workflow/workflow-file.ts";
import { type CallableWorkflow, readCallable } from "./callable.ts";
import type { WorkflowCall } from "./check-call.ts";
import { checkJobs } from "./check-jobs.ts";
import { decideJob } from "./decide-job.ts";
import { evaluateOutputs } from "./evaluate-call.ts";
import { needsContext, statusOfJobs } from "./needs-of.ts";
import { readGroup } from "./read-group.ts";
import type { PlanWorkflowOptions, WorkflowWork } from "./workflow-work.ts";

/** A workflow as a pipeline. */
export interface PlannedWorkflow {
  /** The jobs for `runPipeline()`, in the order of the file. Empty when there are errors. */
  readonly jobs: readonly PipelineJob<WorkflowWork>[];
  /** The name of the workflow. Absent when it has none. */
  readonly name: string | undefined;
  /** Everything that is wrong with the file, as far as it does not depend on what jobs hand on. */
  readonly diagnostics: readonly GithubDiagnostic[];
  /** The calls that its jobs make, whose workflows have to be there before the first job starts. */
  readonly calls: readonly WorkflowCall[];
  /** The inputs and secrets that the workflow takes from a job that calls it; absent when it cannot be called. */
  readonly callable: CallableWorkflow | undefined;
  /** The concurrency group that a run of the workflow holds; absent without one. */
  readonly group: string | undefined;
  /** The outputs of `on.workflow_call`, once all jobs have ended. @throws {GithubExpressionError} */
  readonly outputsOf: (results: JobResults) => Record<string, string>;
}

/**
 * Plans all jobs of a workflow. All of them are checked at once. Each is decided when those that it needs have ended: its condition
 * with `needs` and their status, then its matrix, `continue-on-error` and `concurrency`. Never throws: mistakes are diagnostics,
 * or failures of the job.
 */
export function planWorkflow({ source, heldGroups: held = NONE, ...options }: PlanWorkflowOptions): PlannedWorkflow {
  const reading = createReading("workflow");
  const file = readWorkflow(reading, source);
  if (file === undefined) return { ...NOTHING, diagnostics: reading.report.finish() };
  const contexts = earlyContexts(reading, file, { ...options, needs: createObject() });
  const ids = new Map([...file.jobs.keys()].map((id) => [id.toLowerCase(), id]));
  const needs = new Map([...file.jobs.values()].map(({ id, value }) => [id, needsOf(reading, value, ids)]));
  const outputs = readOutputs(reading, file.root);
  const callable = readCallable(reading, file.root);
  const group = readGroup(reading, childOf(file.root, "concurrency"), {
    what: `"concurrency" of the workflow`,
    at: "concurrency",
    contexts,
  });
  const calls = checkJobs(reading, file, contexts);
  const diagnostics = reading.report.finish();
  if (reading.report.hasErrors) return { ...NOTHING, name: file.name, callable, diagnostics };
  const statusOf = statusOfJobs(needs);
  const heldGroups = group === undefined ? held : new Set([...held, group]);
  const jobs = [...file.jobs.values()].map((job): PipelineJob<WorkflowWork> => ({
    id: job.id,
    needs: needs.get(job.id) ?? [],
    decide: (results, { isCancelled }) =>
      decideJob(file, job, {
        contexts: { ...contexts, needs: needsContext(needs.get(job.id) ?? [], results) },
        status: statusOf(job.id, results, isCancelled),
        heldGroups,
      }),
  }));
  return {
    jobs,
    name: file.name,
    diagnostics,
    calls,
    callable,
    group,
    outputsOf: (results) => evaluateOutputs(outputs, { ...contexts, jobs: jobsContext(results) } satisfies Contexts),
  };
}

const NONE: ReadonlySet<string> = new Set();
const NOTHING: Omit<PlannedWorkflow, "diagnostics"> = {
  jobs: [],
  name: undefined,
  calls: [],
  callable: undefined,
  group: undefined,
  outputsOf: () => ({}),
};

// Ids are compared without their case; a need that is not there was reported.
function needsOf(reading: Reading, job: YamlMapping, ids: ReadonlyMap<string, string>): readonly string[] {
  const node = childOf(job, "needs");
  const items = node === undefined ? [] : node.kind === "list" ? node.items : [node];
  const named = items.map((item) => textOf(reading, item, `An item of "needs"`) ?? "");
  return [...new Set(named.flatMap((name) => ids.get(name.toLowerCase()) ?? []))];
}

function readOutputs(reading: Reading, root: YamlMapping): Record<string, string> {
  const outputs = childOf(childOf(childOf(root, "on"), "workflow_call"), "outputs");
  const values = createObject<string>();
  for (const [name, { value }] of outputs?.kind === "mapping" ? outputs.entries : []) {
    const node = childOf(value, "value");
    const what = {
      what: `"outputs" of workflow_call`,
      at: "workflow-call-output",
      pointer: ["outputs", name],
    } as const;
    if (value.kind === "mapping" && node !== undefined) values[name] = readTexts(reading, value, what)["value"] ?? "";
  }
  return values;
}

function jobsContext(results: JobResults): Record<string, Value> {
  return createObject(
    [...results].map(([id, { status, outputs }]): [string, Value] => [id, { result: status, outputs: { ...outputs } }]),
  );
}
