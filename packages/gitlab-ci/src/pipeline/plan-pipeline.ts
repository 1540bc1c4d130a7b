import type { Diagnostic } from "@steps/model";
import { quote } from "@steps/model";
import type { PipelineJob } from "@steps/pipeline";
import { Report, type YamlEntry, type YamlMapping } from "@steps/source";
import type { CiReport } from "../ci-rules.ts";
import type { LoadedJob, LoadedPipeline } from "../load/loaded-pipeline.ts";
import { isMapping, madeText } from "../load/nodes.ts";
import { decideJob, decidePipeline, type JobDecision } from "../rules/decide.ts";
import type { CompilePattern } from "../rules/if/patterns.ts";
import { readJobRules } from "../rules/read-job-rules.ts";
import { readRules } from "../rules/read-rules.ts";
import type { Situation } from "../rules/situation.ts";
import { collectVariablesOfRules, type Variable, type VariableSources } from "../variables/collect-variables.ts";
import { readVariables } from "../variables/read-variables.ts";
import { decideStart, type PlannedJob } from "./decide-start.ts";
import { type Need, readNeeds } from "./read-needs.ts";
import { gateOf, stageGates } from "./stage-gates.ts";

/** The facts that a pipeline is planned with. */
export interface PlanPipelineOptions {
  readonly situation: Situation;
  /** The variables of the sources that are known before any job is: predefined ones, settings, those given with the pipeline. */
  readonly sources: VariableSources;
  /** The predefined variables of a job, such as `CI_JOB_NAME`. Default: none. */
  readonly predefinedOf?: (job: LoadedJob) => ReadonlyMap<string, Variable>;
  /** Says whether a manual job is started by hand. Default: none is. */
  readonly isStarted?: (job: LoadedJob) => boolean;
  /** Gives the engine of patterns. Default: it is loaded when a pattern is met. */
  readonly patterns?: () => Promise<CompilePattern>;
}

/** A pipeline with every decision about it. */
export interface PlannedPipeline {
  /** The decision of `workflow:rules`; a pipeline that is not in has no jobs. */
  readonly workflow: JobDecision;
  /** The decisions about all jobs of the configuration by name, in its order. */
  readonly decisions: ReadonlyMap<string, JobDecision>;
  /** The jobs that are in, with their gates, for `runPipeline()`. Empty when there are errors. */
  readonly jobs: readonly PipelineJob<PlannedJob>[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Decides which jobs of a configuration are in a pipeline and when each starts, as GitLab does: `workflow:rules`, then the rules of
 * each job; after the jobs of `needs`, or else of all stages before its own; by `when`. A failed job keeps those with
 * `when: on_success` from running and lets those with `on_failure` run. A manual job is skipped unless it is started; where it may
 * not be left out (`allow_failure: false`) everything behind it is skipped too.
 */
export async function planPipeline(pipeline: LoadedPipeline, options: PlanPipelineOptions): Promise<PlannedPipeline> {
  const report: CiReport = new Report();
  const sources = { ...options.sources, global: readVariables(pipeline.variables, "global", report) };
  const workflowRules = rulesOfWorkflow(pipeline, report);
  const deciding = { situation: options.situation, patterns: options.patterns };
  const workflow = await decidePipeline(workflowRules, { ...deciding, variables: collectVariablesOfRules(sources) });
  const decisions = new Map<string, JobDecision>();
  const planned: PlannedJob[] = [];
  for (const job of workflow.isIn ? pipeline.jobs.values() : []) {
    const own = { ...sources, workflow: workflow.variables, ...sourcesOfJob(job, sources, { options, report }) };
    const rules = readJobRules(mappingOf(job), { hasWorkflowRules: workflowRules !== undefined }, report);
    const decision = await decideJob(rules, { ...deciding, variables: collectVariablesOfRules(own) });
    decisions.set(job.name, decision);
    const needs = decision.needs === undefined ? undefined : readNeeds(decision.needs, pipeline);
    const isStarted = options.isStarted?.(job) === true;
    if (decision.isIn) planned.push({ job, decision, needs, isStarted, sources: { ...own, rule: decision.variables } });
  }
  checkPresence(planned, report);
  const jobs = report.hasErrors ? [] : schedule(pipeline, planned);
  return { workflow, decisions, jobs, diagnostics: report.finish() };
}

function rulesOfWorkflow({ workflow }: LoadedPipeline, report: CiReport): ReturnType<typeof readRules> | undefined {
  const node = isMapping(workflow) ? workflow.entries.get("rules")?.value : undefined;
  return node === undefined ? undefined : readRules(node, "workflow", report);
}

function sourcesOfJob(
  job: LoadedJob,
  { global, predefined }: VariableSources,
  { options, report }: { readonly options: PlanPipelineOptions; readonly report: CiReport },
): VariableSources {
  return {
    predefined: new Map([...(predefined ?? []), ...(options.predefinedOf?.(job) ?? [])]),
    global: new Map([...(global ?? [])].filter(([name]) => job.inheritsVariable(name))),
    job: readVariables(job.keywords.get("variables")?.value, "job", report),
    matrix: readVariables(mappingFrom(job, job.instance?.variables), "job", report),
  };
}

function mappingOf(job: LoadedJob): YamlMapping {
  return { ...placeOf(job), kind: "mapping", entries: job.keywords };
}

function mappingFrom(job: LoadedJob, values: ReadonlyMap<string, YamlEntry["value"]> = new Map()): YamlMapping {
  const entries = new Map(
    [...values].map(([name, value]): [string, YamlEntry] => [name, { key: madeText(name, value), value }]),
  );
  return { ...placeOf(job), kind: "mapping", entries };
}

function placeOf({ key: { source, offset, length } }: LoadedJob): Pick<YamlMapping, "source" | "offset" | "length"> {
  return { source, offset, length };
}

// A job that needs one which its rules keep out would wait for ever; GitLab makes no pipeline then.
function checkPresence(planned: readonly PlannedJob[], report: CiReport): void {
  const names = new Set(planned.map(({ job }) => job.name));
  for (const { job, needs = [] } of planned) {
    for (const { job: need, isOptional, node } of needs) {
      if (isOptional || names.has(need)) continue;
      report.error(node, {
        code: "unknown-needed-job",
        message: `The job ${quote(job.name)} needs ${quote(need)}, which is not in the pipeline`,
        hint: `Its rules keep it out: write {job: ${JSON.stringify(need)}, optional: true} if ${quote(job.name)} can do without it.`,
      });
    }
  }
}

function schedule({ stages }: LoadedPipeline, planned: readonly PlannedJob[]): readonly PipelineJob<PlannedJob>[] {
  if (planned.length === 0) return [];
  const names = new Set(planned.map(({ job }) => job.name));
  const ranks = new Map(stages.map((stage, index) => [stage, index]));
  const jobs = planned.map((one): PipelineJob<PlannedJob> => {
    const needs = needsOf(one, names) ?? gateOf(ranks.get(one.job.stage) ?? 0);
    return { id: one.job.name, needs, decide: (results, state) => decideStart(one, { needs, results, state }) };
  });
  return [...jobs, ...stageGates(stages, planned)];
}

function needsOf({ needs }: PlannedJob, names: ReadonlySet<string>): readonly string[] | undefined {
  return needs?.map(({ job }: Need) => job).filter((job) => names.has(job));
}
