import { dirname, join, resolve } from "node:path";
import { UsageError } from "@steps/console";
import { complain } from "@steps/console/terminal";
import type { RunHooks } from "@steps/engine";
import { type GithubOptions, sharedArtifacts } from "@steps/engine/github";
import {
  type CallWork,
  type PlannedWorkflow,
  planWorkflow,
  secretsOfCall,
  type StepsWork,
  type WorkflowWork,
} from "@steps/github-compiler";
import { formatDiagnostic, type Source } from "@steps/model/diagnostic";
import { formatValue } from "@steps/model/value";
import { isInside } from "@steps/platform";
import { type InstanceName, type JobResult, type JobResults, type PipelineJob, runPipeline } from "@steps/pipeline";
import { showDiagnostics } from "../../diagnose.ts";
import { githubOptions } from "../../github-flags.ts";
import { readSource } from "../../read-source.ts";
import { type WorkflowFacts, workflowFacts } from "../../read-workflow-job.ts";
import { workflowCommandJob, workflowTimeout } from "../../workflow-command-job.ts";
import { chooseJobs, idsOf } from "../choose-jobs.ts";
import type { LocalPipeline } from "../local-pipeline.ts";
import { type PipelineContext, recordSource } from "../pipeline-context.ts";
import type { PipelineOptions } from "../pipeline-flags.ts";
import { SEPARATOR } from "../pipeline-rows.ts";
import { pipelineExitCode, statusOf } from "../pipeline-status.ts";
import { jobResultOf, runEngineJob } from "../run-engine-job.ts";
import { listWorkflow } from "./list-workflow.ts";

/** GitHub's limit of workflows that call each other. */
const MAX_CALLS = 10;

/** What the jobs of a workflow share, with the artifacts that they hand on. */
interface WorkflowContext extends PipelineContext {
  /** The folder that the jobs hand artifacts on in: absolute. */
  readonly artifactDir: string;
  readonly artifacts: NonNullable<GithubOptions["artifacts"]>;
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

/** The work of an instance, and its names. */
interface InstanceOf<Work> {
  readonly work: Work;
  readonly of: InstanceName;
}

/** Reads a workflow, and shows what is wrong with it. `undefined`: it cannot be run. @throws {UsageError} */
export function readWorkflow(options: PipelineOptions, path: string, project: string): LocalPipeline | undefined {
  const source = readSource(path);
  const facts = workflowFacts(options, source, project);
  const plan = planWorkflow({ source, ...facts });
  showDiagnostics(options, plan.diagnostics);
  if (plan.jobs.length === 0) return undefined;
  const jobs = chosenJobs(options, plan);
  const workflow = { source, facts, secrets: options.secret, path: "", depth: 1 };
  return {
    language: "github",
    sources: [source],
    name: plan.name,
    graph: jobs,
    list: () => listWorkflow(jobs),
    run: async (context) => {
      const { artifactDir = options.artifactsDir ?? join(context.makeFolder(), "artifacts") } = options;
      const artifacts = await sharedArtifacts();
      return runJobs({ ...context, artifactDir, artifacts }, workflow, jobs, context.stop.signal);
    },
  };
}

// The ids of jobs do not differ in case alone.
function chosenJobs({ only, stage, start }: PipelineOptions, { jobs }: PlannedWorkflow): PlannedWorkflow["jobs"] {
  for (const [name, given] of Object.entries({ stage, start })) {
    if (given.length > 0) throw new UsageError(`--${name} is given`, "A workflow has no stages and no manual jobs.");
  }
  if (only.length === 0) return jobs;
  const byName = new Map(jobs.map(({ id }) => [id.toLowerCase(), [id]]));
  return chooseJobs(
    jobs,
    idsOf(
      "job",
      only.map((name) => name.toLowerCase()),
      byName,
    ),
  );
}

function runJobs(
  context: WorkflowContext,
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
  context: WorkflowContext,
  workflow: Workflow,
  one: InstanceOf<StepsWork>,
  signal: AbortSignal,
): Promise<JobResult> {
  const result = await context.inWorkspace(
    (workDir) => runStepsIn(context, { ...one, workflow, workDir }, signal),
    signal,
  );
  return result ?? { status: "cancelled", reason: "The pipeline was cancelled" };
}

async function runStepsIn(
  context: WorkflowContext,
  { workflow, work, of, workDir }: InstanceOf<StepsWork> & { readonly workflow: Workflow; readonly workDir: string },
  signal: AbortSignal,
): Promise<JobResult> {
  const { options, artifactDir, artifacts } = context;
  const { source, facts, secrets, path } = workflow;
  const { variables, ...known } = facts;
  const github = { ...known.github, workspace: workDir };
  const compiled = work.compile(github);
  const { specDefinition, job, positionOf } = compiled;
  if (specDefinition === undefined || job === undefined) {
    const error = compiled.diagnostics.find(({ severity }) => severity === "error");
    return { status: "failure", reason: error === undefined ? "The job is malformed" : formatDiagnostic(error) };
  }
  const name = path + job.name;
  let outputs: Readonly<Record<string, string>> = {};
  const run = { specDefinition, positionOf, job, workDir, variables, path: source.name, vars: known.vars };
  const ended = await runEngineJob(
    context,
    {
      of: { path, ...of },
      job: workflowCommandJob(options, name, run),
      secrets,
      github: { ...githubOptions(options), artifactDir, artifacts },
      timeoutMs: workflowTimeout(run),
      onEvent: (event) => {
        if (event.type === "run-finished") outputs = handedOn(name, event.outputs);
      },
    },
    signal,
  );
  return { ...jobResultOf(ended), outputs };
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
  context: WorkflowContext,
  caller: Workflow,
  { work, of }: InstanceOf<CallWork>,
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
  const path = `${caller.path}${of.instance}${SEPARATOR}`;
  const workflow = { source, facts: called, secrets, path, depth: caller.depth + 1 };
  const results = await runJobs(context, workflow, plan.jobs, signal);
  const status = statusOf(results);
  const outputs = plan.outputsOf(results);
  if (status !== "failure") return { status, outputs };
  return { status, outputs, reason: "A job of it failed", exitCode: pipelineExitCode(results, undefined) };
}

// As for GitHub: the path of a local workflow starts at the root of the project.
function readCalled(context: WorkflowContext, caller: Workflow, { uses, jobId }: CallWork): Source | JobResult {
  const fail = (reason: string): JobResult => ({ status: "failure", reason });
  if (caller.depth >= MAX_CALLS) return fail(`Workflows call each other more than ${MAX_CALLS} levels deep`);
  if (!/^\.\/\.github\/workflows\/[^/]+\.ya?ml$/.test(uses))
    return fail(
      `"${jobId}" calls "${uses}"; only workflows of the same project (./.github/workflows/FILE.yml) can be called`,
    );
  const path = resolve(context.project, uses);
  try {
    if (!isInside(context.project, path)) return fail(`The workflow "${uses}" leads out of the project`);
    const source = readSource(path);
    recordSource(context, source);
    return source;
  } catch (error) {
    complain(`The workflow "${uses}" cannot be read: ${(error as Error).message}`);
    return fail(`There is no workflow "${uses}" in "${dirname(path)}"`);
  }
}
