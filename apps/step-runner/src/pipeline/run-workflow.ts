import { dirname, relative, resolve } from "node:path";
import { UsageError } from "@steps/console";
import { complain } from "@steps/console/terminal";
import type { Engine, RunHooks } from "@steps/engine";
import type { GithubOptions } from "@steps/engine/github";
import type { PipelineRecording } from "@steps/engine/pipeline";
import {
  type CallWork,
  type PlannedWorkflow,
  planWorkflow,
  secretsOfCall,
  type StepsWork,
  type WorkflowWork,
} from "@steps/github-compiler";
import type { Outcome } from "@steps/model";
import { formatDiagnostic, type Source } from "@steps/model/diagnostic";
import { formatValue } from "@steps/model/value";
import { isInside } from "@steps/platform";
import {
  type InstanceName,
  type JobPlaces,
  type JobResult,
  type JobResults,
  type PipelineJob,
  runPipeline,
} from "@steps/pipeline";
import { showDiagnostics } from "../diagnose.ts";
import { githubOptions } from "../github-flags.ts";
import { readSource } from "../read-source.ts";
import { type WorkflowFacts, workflowFacts } from "../read-workflow-job.ts";
import { withFlags } from "../run-job.ts";
import type { StopSignals } from "../signals.ts";
import { workflowCommandJob, workflowTimeout } from "../workflow-command-job.ts";
import type { PipelineOptions } from "./pipeline-flags.ts";
import type { PipelineView } from "./pipeline-view.ts";

/** GitHub's limit of workflows that call each other. */
const MAX_CALLS = 10;

/** Everything that the jobs of a pipeline share, also those of the workflows that it calls. */
export interface PipelineContext {
  readonly options: PipelineOptions;
  readonly engine: Engine;
  readonly stop: StopSignals;
  readonly view: PipelineView;
  readonly recording: PipelineRecording;
  readonly places: JobPlaces;
  /** The folder of the project: absolute. */
  readonly project: string;
  /** Makes the folder in which one job runs: absolute. */
  readonly workspaceOf: (signal: AbortSignal) => Promise<string>;
  /** The folder that the jobs hand artifacts on in: absolute. */
  readonly artifactDir: string;
  /** The artifacts that the jobs hand on. */
  readonly artifacts: NonNullable<GithubOptions["artifacts"]>;
  /** The exit codes of the jobs that failed, in the order of their ends. */
  readonly exitCodes: number[];
}

/** A workflow of a pipeline: the outermost one, or one that a job calls. */
interface Workflow {
  readonly source: Source;
  readonly facts: WorkflowFacts;
  /** The secrets that its jobs can grant, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The names of the calling jobs, each with ` / ` behind it; empty for the outermost workflow. */
  readonly path: string;
  readonly depth: number;
}

/** Runs the jobs of a workflow, or those that are chosen with the jobs that they need. `undefined`: the file cannot be run. */
export async function runWorkflow(context: PipelineContext, path: string): Promise<JobResults | undefined> {
  const { options, project, stop } = context;
  const source = readRecorded(context, path);
  const facts = workflowFacts(options, source, project);
  const plan = planWorkflow({ source, ...facts });
  showDiagnostics(options, plan.diagnostics);
  if (plan.jobs.length === 0) return undefined;
  const workflow = { source, facts, secrets: options.secret, path: "", depth: 1 };
  return runJobs(context, workflow, chosenJobs(plan, options.only), stop.signal);
}

function readRecorded({ project, recording }: PipelineContext, path: string): Source {
  const source = readSource(path);
  const way = relative(project, resolve(path));
  recording.fileRead(way.startsWith("..") ? source.name : way, source.text);
  return source;
}

/** Plans a run of a workflow in which each job succeeds without outputs, for `--list`. */
export function planOnly(options: PipelineOptions, path: string, project: string): PlannedWorkflow {
  const source = readSource(path);
  const plan = planWorkflow({ source, ...workflowFacts(options, source, project) });
  showDiagnostics(options, plan.diagnostics);
  return { ...plan, jobs: chosenJobs(plan, options.only) };
}

// A job that is chosen needs what it always needs.
function chosenJobs({ jobs }: PlannedWorkflow, only: readonly string[]): readonly PipelineJob<WorkflowWork>[] {
  if (only.length === 0) return jobs;
  const byId = new Map(jobs.map((job) => [job.id.toLowerCase(), job]));
  const chosen = new Set<PipelineJob<WorkflowWork>>();
  const open = [...only];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const job = byId.get(id.toLowerCase());
    if (job === undefined)
      throw new UsageError(`There is no job "${id}"`, `There are ${jobs.map((one) => one.id).join(", ")}.`);
    if (!chosen.has(job)) open.push(...job.needs);
    chosen.add(job);
  }
  return jobs.filter((job) => chosen.has(job));
}

function runJobs(
  context: PipelineContext,
  workflow: Workflow,
  jobs: readonly PipelineJob<WorkflowWork>[],
  signal: AbortSignal,
): Promise<JobResults> {
  const { view, recording } = context;
  recording.planned(jobs, workflow.path);
  return runPipeline(jobs, {
    places: context.places,
    signal,
    onEvent: (event) => {
      view.onEvent(event, workflow.path);
      recording.onEvent(event, workflow.path);
    },
    run: async (work, instanceSignal, of) => {
      // Who interrupts twice does not want to wait for jobs that run always, either.
      const ownSignal = AbortSignal.any([instanceSignal, context.stop.hurry]);
      const result = await (work.kind === "call"
        ? runCall(context, workflow, { work, of }, ownSignal)
        : runSteps(context, workflow, { work, of }, ownSignal));
      return { ...result, isAllowedToFail: work.isAllowedToFail };
    },
  });
}

async function runSteps(
  { options, engine, stop, view, recording, workspaceOf, artifactDir, artifacts, exitCodes }: PipelineContext,
  { source, facts, secrets, path }: Workflow,
  { work, of }: { readonly work: StepsWork; readonly of: InstanceName },
  signal: AbortSignal,
): Promise<JobResult> {
  const { variables, ...known } = facts;
  const workDir = await workspaceOf(signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (workDir === undefined) return { status: "cancelled", reason: "The pipeline was cancelled" };
  const github = { ...known.github, workspace: workDir };
  const compiled = work.compile(github);
  const { specDefinition, job, positionOf } = compiled;
  if (specDefinition === undefined || job === undefined) {
    const error = compiled.diagnostics.find(({ severity }) => severity === "error");
    return { status: "failure", reason: error === undefined ? "The job is malformed" : formatDiagnostic(error) };
  }
  const name = path + job.name;
  const writers = view.outputOf(name);
  let outputs: Readonly<Record<string, string>> = {};
  const run = { specDefinition, positionOf, job, workDir, variables, path: source.name, vars: known.vars };
  const request = {
    job: withFlags({ ...options, secret: secrets }, workflowCommandJob(options, name, run)),
    github: { ...githubOptions(options), artifactDir, artifacts },
    isLenient: options.lenient,
    timeoutMs: options.timeout ?? workflowTimeout(run),
    graceMs: options.grace,
    hurry: stop.hurry,
  };
  const watch: RunHooks = {
    onOutput: (stream, chunk) => writers[stream].write(chunk),
    onEvent: (event) => {
      if (event.type === "run-finished") outputs = handedOn(name, event.outputs);
    },
  };
  const { outcome, exitCode } = await recording.attempt({ path, ...of }, watch, (hooks) =>
    engine.run(request, hooks, signal),
  );
  await writers.end();
  const result = resultOf(outcome);
  if (result.status === "failure" && !work.isAllowedToFail) exitCodes.push(exitCode);
  return { ...result, outputs };
}

function resultOf({ status, error }: Outcome): JobResult {
  if (status === "success") return { status };
  const reason = error?.message ?? `The job ended: ${status}`;
  return { status: status === "cancelled" || status === "skipped" ? status : "failure", reason };
}

type FinishedRun = Extract<Parameters<NonNullable<RunHooks["onEvent"]>>[0], { readonly type: "run-finished" }>;

// As for GitHub: an output with a secret in it is not handed on to other jobs, nor one that is too large to be recorded.
function handedOn(job: string, outputs: FinishedRun["outputs"]): Record<string, string> {
  const left = Object.keys(outputs).filter((name) => outputs[name]?.redacted !== undefined);
  if (left.length > 0)
    complain(`Outputs of the job "${job}" hold secrets or are too large, and are not handed on: ${left.join(", ")}`);
  return Object.fromEntries(
    Object.entries(outputs).flatMap(([name, { redacted, value = null }]) =>
      redacted === undefined ? [[name, formatValue(value)]] : [],
    ),
  );
}

async function runCall(
  context: PipelineContext,
  caller: Workflow,
  { work, of }: { readonly work: CallWork; readonly of: InstanceName },
  signal: AbortSignal,
): Promise<JobResult> {
  const source = readCalled(context, caller, work);
  if ("status" in source) return source;
  const { facts } = caller;
  const secrets = secretsOfCall(work, caller.secrets, {
    github: { ...facts.github },
    inputs: { ...facts.inputs },
    vars: { ...facts.vars },
  });
  const called = { ...facts, inputs: { ...work.inputs } };
  const plan = planWorkflow({ source, ...called, isCalled: true });
  const error = plan.diagnostics.find(({ severity }) => severity === "error");
  if (error !== undefined) return { status: "failure", reason: formatDiagnostic(error) };
  const path = `${caller.path}${of.instance} / `;
  const workflow = { source, facts: called, secrets, path, depth: caller.depth + 1 };
  const results = await runJobs(context, workflow, plan.jobs, signal);
  const status = worstOf(results);
  return { status, outputs: plan.outputsOf(results), ...(status === "failure" && { reason: "A job of it failed" }) };
}

// As for GitHub: the path of a local workflow starts at the root of the project.
function readCalled(context: PipelineContext, caller: Workflow, { uses, jobId }: CallWork): Source | JobResult {
  const fail = (reason: string): JobResult => ({ status: "failure", reason });
  if (caller.depth >= MAX_CALLS) return fail(`Workflows call each other more than ${MAX_CALLS} levels deep`);
  if (!/^\.\/\.github\/workflows\/[^/]+\.ya?ml$/.test(uses))
    return fail(
      `"${jobId}" calls "${uses}"; only workflows of the same project (./.github/workflows/FILE.yml) can be called`,
    );
  const path = resolve(context.project, uses);
  try {
    if (!isInside(context.project, path)) return fail(`The workflow "${uses}" leads out of the project`);
    return readRecorded(context, path);
  } catch (error) {
    complain(`The workflow "${uses}" cannot be read: ${(error as Error).message}`);
    return fail(`There is no workflow "${uses}" in "${dirname(path)}"`);
  }
}

/** The result of a workflow, of those of its jobs. */
export function worstOf(results: JobResults): JobResult["status"] {
  const ended = [...results.values()];
  if (ended.some(({ status, isAllowedToFail }) => status === "failure" && isAllowedToFail !== true)) return "failure";
  return ended.some(({ status }) => status === "cancelled") ? "cancelled" : "success";
}
