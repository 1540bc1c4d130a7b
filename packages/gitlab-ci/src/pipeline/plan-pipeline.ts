import { checkOptionNames, type OptionNames } from "@steps/model";
import type { PipelineJob } from "@steps/pipeline";
import { childOf, Report } from "@steps/source";
import type { CiDiagnostic, CiReport } from "../ci-rules.ts";
import { readJobTerms } from "../compile/job-terms.ts";
import {
  type JudgedPipeline,
  type JudgedPipelineJob,
  judgePipeline,
  type JudgePipelineOptions,
} from "../judge-pipeline.ts";
import type { LoadedJob, LoadedPipeline } from "../load/loaded-pipeline.ts";
import { stringOf } from "../load/nodes.ts";
import { collectVariables, type VariableSources } from "../variables/collect-variables.ts";
import { expandKeyword } from "../variables/expand-keyword.ts";
import { expandVariables } from "../variables/expand-variables.ts";
import { readVariables } from "../variables/read-variables.ts";
import { artifactSources } from "./artifact-sources.ts";
import { checkNeeded } from "./check-needed.ts";
import { checkTriggers } from "./check-triggers.ts";
import { decideStart, type PlannedJob } from "./decide-start.ts";
import { readDuration } from "@steps/model/gitlab-duration";
import { readForeignNeeds, readNeeds } from "./read-needs.ts";
import { readTrigger } from "./read-trigger.ts";
import { gateOf, stageGates } from "./stage-gates.ts";

/** The facts that a pipeline is planned with. */
export interface PlanPipelineOptions extends JudgePipelineOptions {
  /** Says whether a manual job is started by hand. Default: none is. */
  readonly isStarted?: (job: LoadedJob) => boolean;
  /** Whether delayed jobs wait for their time. Default: yes. */
  readonly hasDelays?: boolean;
}

/** A pipeline with every decision about it. */
export interface PlannedPipeline {
  /** The decisions about the pipeline and all jobs of the configuration. Absent when there are errors. */
  readonly judged: JudgedPipeline | undefined;
  /** The jobs that are in, with their gates, for `runPipeline()`. Empty when there are errors. */
  readonly jobs: readonly PipelineJob<PlannedJob>[];
  /** `workflow:name` with variables filled in; absent without one. */
  readonly name: string | undefined;
  /** Whether the first job that fails cancels the others: `auto_cancel:on_job_failure: all`. */
  readonly isFailFast: boolean;
  /** The jobs whose artifacts a job gets before it starts, in the order in which they are unpacked. */
  readonly artifactsOf: (job: PlannedJob) => readonly string[];
  /** Plans one job by its name as if it were in the pipeline. `undefined` for a job that is not known, and when there are errors. */
  readonly jobNamed: (name: string) => PlannedJob | undefined;
  readonly diagnostics: readonly CiDiagnostic[];
}

const OPTION_NAMES: OptionNames<PlanPipelineOptions> = {
  isStarted: true,
  hasDelays: true,
  situation: true,
  sources: true,
};

/**
 * Plans when each job of a pipeline starts, as GitLab does: after the jobs of `needs`, or else of all stages before its own; by
 * `when`. A failed job keeps those with `when: on_success` from running and lets those with `on_failure` run. A manual job is
 * skipped unless it is started; where it may not be left out (`allow_failure: false`) everything behind it is skipped too.
 */
export async function planPipeline(pipeline: LoadedPipeline, options: PlanPipelineOptions): Promise<PlannedPipeline> {
  checkOptionNames("planPipeline()", options, OPTION_NAMES);
  const { situation, sources } = options;
  const { judged, diagnostics } = await judgePipeline(pipeline, { situation, sources });
  if (judged === undefined) return { ...NOTHING, diagnostics };
  const isIn = judged.workflow?.isIn !== false;
  const report: CiReport = new Report();
  const planned = [...judged.jobs.values()]
    .filter(({ decision }) => isIn && decision.isIn)
    .map((one) => planJob(one, pipeline, { ...options, report }));
  checkNeeded(pipeline, planned, report);
  checkTriggers(pipeline, planned, report);
  const ofWorkflow = readWorkflow(pipeline, judged, options);
  return {
    judged,
    jobs: report.hasErrors ? [] : schedule(pipeline, planned),
    ...ofWorkflow,
    artifactsOf: artifactSources(pipeline, planned),
    jobNamed: (name) => {
      const one = judged.jobs.get(name);
      return one && planJob(one, pipeline, { ...options, report: new Report() });
    },
    diagnostics: [...diagnostics, ...report.finish()],
  };
}

const NOTHING = {
  judged: undefined,
  jobs: [],
  name: undefined,
  isFailFast: false,
  artifactsOf: () => [],
  jobNamed: () => undefined,
};

function planJob(
  one: JudgedPipelineJob,
  pipeline: LoadedPipeline,
  { report, isStarted, hasDelays = true }: PlanPipelineOptions & { readonly report: CiReport },
): PlannedJob {
  const { job, decision, sources } = one;
  // Few jobs have a keyword that takes variables, and to expand those of all jobs takes long.
  const variables = job.keywords.has("resource_group") ? expandVariables(collectVariables(sources)).values : {};
  const { terms, diagnostics } = readJobTerms(job, { variables, decision });
  // The instances of a job share what they say, so it is complained about once.
  if ((job.instance?.index ?? 1) === 1) report.include(diagnostics);
  return {
    ...one,
    needs: decision.needs && readNeeds(decision.needs, pipeline, job.instance),
    foreignNeeds: readForeignNeeds(decision.needs),
    isStarted: isStarted?.(job) === true,
    delayMs: hasDelays && decision.when === "delayed" ? readDuration(decision.startIn ?? "") : undefined,
    terms,
    trigger: readTrigger(job),
  };
}

function readWorkflow(
  { workflow, root }: LoadedPipeline,
  { workflow: decision }: JudgedPipeline,
  { sources }: PlanPipelineOptions,
): Pick<PlannedPipeline, "name" | "isFailFast"> {
  const name = stringOf(childOf(workflow, "name"));
  const reported: CiReport = new Report();
  const global = readVariables(root.entries.get("variables")?.value, "global", reported);
  const known = (): VariableSources => ({ ...sources(), global, workflow: decision?.variables });
  const rule = decision?.by.kind === "rule" ? decision.by.rule : undefined;
  const onFailure =
    stringOf(childOf(rule?.autoCancel, "on_job_failure")) ??
    stringOf(childOf(childOf(workflow, "auto_cancel"), "on_job_failure"));
  return {
    name: name === undefined ? undefined : expandWith(known(), "workflow:name", name),
    isFailFast: onFailure === "all",
  };
}

function expandWith(sources: VariableSources, keyword: string, text: string): string {
  if (!/[$%]/.test(text)) return text;
  const { values } = expandVariables(collectVariables(sources));
  return expandKeyword(keyword, text, (name) => values[name]);
}

function schedule({ stages }: LoadedPipeline, planned: readonly PlannedJob[]): readonly PipelineJob<PlannedJob>[] {
  if (planned.length === 0) return [];
  const names = new Set(planned.map(({ job }) => job.name));
  const ranks = new Map(stages.map((stage, index) => [stage, index]));
  const jobs = planned.map((one): PipelineJob<PlannedJob> => {
    const needed = one.needs?.map(({ job }) => job).filter((job) => names.has(job));
    const needs = needed ?? gateOf(ranks.get(one.job.stage) ?? 0);
    return { id: one.job.name, needs, decide: (results, state) => decideStart(one, { needs, results, state }) };
  });
  return [...jobs, ...stageGates(stages, planned)];
}
