import { join } from "node:path";
import { UsageError } from "@steps/console";
import { complain } from "@steps/console/terminal";
import type { RunHooks } from "@steps/engine";
import { sharedArtifacts } from "@steps/engine/github";
import { type PlannedWorkflow, planWorkflow, type StepsWork, type WorkflowWork } from "@steps/github-compiler/pipeline";
import { formatDiagnostic, hasErrors } from "@steps/model/diagnostic";
import { formatValue } from "@steps/model/value";
import { type JobResult, type JobResults, type PipelineJob, runPipeline } from "@steps/pipeline";
import { showDiagnostics } from "../../input/diagnose.ts";
import { githubOptions } from "../../flags/github-flags.ts";
import { readSource } from "../../files/read-source.ts";
import { workflowFacts } from "../../input/read-workflow-job.ts";
import { workflowCommandJob, workflowTimeout } from "../../run/workflow-command-job.ts";
import { chooseJobs, idsOf } from "../choose-jobs.ts";
import { enterGroup } from "../enter-group.ts";
import { openEngine } from "../../open-engine.ts";
import { StopSignals } from "../../signals.ts";
import type { ListedJob } from "../print/listed-job.ts";
import type { LocalPipeline } from "../local-pipeline.ts";
import { type PipelineContext, recordSource } from "../pipeline-context.ts";
import type { PipelineOptions } from "../pipeline-flags.ts";
import { jobResultOf, runEngineJob } from "../run-engine-job.ts";
import { CalledWorkflows } from "./called-workflows.ts";
import { checkCalls } from "./check-calls.ts";
import { listWithCalls } from "./list-calls.ts";
import { listWorkflow } from "./list-workflow.ts";
import { inGroup, runCall } from "./run-call.ts";
import type { InstanceOf, Workflow, WorkflowContext } from "./workflow-context.ts";

/** Reads a workflow, and shows what is wrong with it. `undefined`: it cannot be run. @throws {UsageError} */
export function readWorkflow(options: PipelineOptions, path: string, project: string): LocalPipeline | undefined {
  const source = readSource(path);
  const facts = workflowFacts(options, source, project);
  const plan = planWorkflow({ source, ...facts });
  showDiagnostics(options, plan.diagnostics);
  if (plan.jobs.length === 0) return undefined;
  const jobs = chosenJobs(options, plan);
  const workflow = {
    source,
    plan,
    origin: { dir: project, name: "" },
    facts,
    secrets: options.secret,
    path: "",
    heldGroups: new Set(plan.group === undefined ? [] : [plan.group]),
    depth: 1,
  };
  return {
    language: "github",
    sources: [source],
    name: plan.name,
    graph: jobs,
    list: () => listWhole(options, workflow, jobs),
    run: (context) => runWhole(context, workflow, jobs),
  };
}

async function listWhole(
  options: PipelineOptions,
  workflow: Workflow,
  jobs: PlannedWorkflow["jobs"],
): Promise<readonly ListedJob[]> {
  if (workflow.plan.calls.length === 0) return await listWorkflow(jobs, () => Promise.resolve([]));
  await using engine = openEngine(options);
  using stop = new StopSignals();
  const workflows = new CalledWorkflows(engine, () => undefined);
  return await listWithCalls({ ...workflow, way: [workflow.source.name] }, jobs, {
    workflows,
    signal: stop.signal,
    count: 0,
  });
}

async function runWhole(
  context: PipelineContext,
  workflow: Workflow,
  jobs: PlannedWorkflow["jobs"],
): Promise<JobResults | undefined> {
  const { options, stop } = context;
  const { source, plan, facts, origin } = workflow;
  const { signal } = stop;
  const workflows = new CalledWorkflows(context.engine, (called) => recordSource(context, called));
  const chosen = new Set(jobs.map(({ id }) => id));
  const calls = plan.calls.filter(({ jobId }) => chosen.has(jobId));
  const problems = await checkCalls({ workflows, facts, signal }, calls, { name: source.name, origin });
  showDiagnostics(options, problems);
  if (hasErrors(problems)) return undefined;
  const { artifactDir = options.artifactsDir ?? join(context.makeFolder(), "artifacts") } = options;
  const artifacts = await sharedArtifacts();
  const own = { ...context, artifactDir, artifacts, workflows, count: { jobs: jobs.length } };
  return inGroup(context, plan.group, { run: () => runJobs(own, workflow, jobs, signal), signal });
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
  context.onPlanned(jobs, workflow.path);
  context.view.planned(jobs, workflow.path);
  return runPipeline(jobs, {
    places: context.places,
    signal,
    enterGroup: (name, groupSignal) => enterGroup(context, { language: "github", name }, groupSignal),
    onEvent: (event) => context.onEvent(event, workflow.path),
    run: async (work, instanceSignal, of) => {
      // Whoever interrupts twice does not want to wait for jobs that run always, either.
      const ownSignal = AbortSignal.any([instanceSignal, context.stop.hurry]);
      const result = await (work.kind === "call"
        ? runCall(context, { caller: workflow, work, of, run: runJobs }, ownSignal)
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
