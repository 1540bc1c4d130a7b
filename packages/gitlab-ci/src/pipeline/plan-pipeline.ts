import { type Diagnostic, quote } from "@steps/model/diagnostic";
import type { PipelineJob } from "@steps/pipeline";
import { Report } from "@steps/source";
import type { CiReport } from "../ci-rules.ts";
import { type JudgedPipeline, judgePipeline, type JudgePipelineOptions } from "../judge-pipeline.ts";
import type { LoadedJob, LoadedPipeline } from "../load/loaded-pipeline.ts";
import { decideStart, type PlannedJob } from "./decide-start.ts";
import { readNeeds } from "./read-needs.ts";
import { gateOf, stageGates } from "./stage-gates.ts";

/** The facts that a pipeline is planned with. */
export interface PlanPipelineOptions extends JudgePipelineOptions {
  /** Says whether a manual job is started by hand. Default: none is. */
  readonly isStarted?: (job: LoadedJob) => boolean;
}

/** A pipeline with every decision about it. */
export interface PlannedPipeline {
  /** The decisions about the pipeline and all jobs of the configuration. Absent when there are errors. */
  readonly judged: JudgedPipeline | undefined;
  /** The jobs that are in, with their gates, for `runPipeline()`. Empty when there are errors. */
  readonly jobs: readonly PipelineJob<PlannedJob>[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Plans when each job of a pipeline starts, as GitLab does: after the jobs of `needs`, or else of all stages before its own; by
 * `when`. A failed job keeps those with `when: on_success` from running and lets those with `on_failure` run. A manual job is
 * skipped unless it is started; where it may not be left out (`allow_failure: false`) everything behind it is skipped too.
 */
export async function planPipeline(pipeline: LoadedPipeline, options: PlanPipelineOptions): Promise<PlannedPipeline> {
  const { judged, diagnostics } = await judgePipeline(pipeline, options);
  if (judged === undefined) return { judged, jobs: [], diagnostics };
  const isIn = judged.workflow?.isIn !== false;
  const planned = [...judged.jobs.values()]
    .filter(({ decision }) => isIn && decision.isIn)
    .map((one): PlannedJob => {
      const { needs } = one.decision;
      return {
        ...one,
        needs: needs === undefined ? undefined : readNeeds(needs, pipeline),
        isStarted: options.isStarted?.(one.job) === true,
      };
    });
  const report: CiReport = new Report();
  checkPresence(planned, report);
  const jobs = report.hasErrors ? [] : schedule(pipeline, planned);
  return { judged, jobs, diagnostics: [...diagnostics, ...report.finish()] };
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
    const needed = one.needs?.map(({ job }) => job).filter((job) => names.has(job));
    const needs = needed ?? gateOf(ranks.get(one.job.stage) ?? 0);
    return { id: one.job.name, needs, decide: (results, state) => decideStart(one, { needs, results, state }) };
  });
  return [...jobs, ...stageGates(stages, planned)];
}
