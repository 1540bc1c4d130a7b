import { join } from "node:path";
import { isGate, type PlannedJob } from "@steps/gitlab-ci/pipeline";
import {
  type GraphJob,
  isPassed,
  type JobResults,
  type PipelineEvent,
  type PipelineJob,
  runPipeline,
} from "@steps/pipeline";
import type { OrderedJob } from "@steps/pipeline-view";
import { projectStores, sweepStores } from "../../files/job-stores.ts";
import { enterGroup } from "../enter-group.ts";
import type { PipelineContext } from "../pipeline-context.ts";
import type { CiContext, CiPipeline, TriggerJob } from "./ci-pipeline.ts";
import { startChild } from "./run-child.ts";
import { runCiJob } from "./run-ci-job.ts";

/** Runs the jobs of a pipeline that were chosen, with all child pipelines. */
export async function runCiPipeline(
  context: PipelineContext,
  ci: CiPipeline,
  jobs: readonly PipelineJob<PlannedJob>[],
): Promise<JobResults> {
  const background: Promise<unknown>[] = [];
  const { project, stateDir, makeFolder } = context;
  await sweepStores(projectStores(project, stateDir));
  const stores = { ...projectStores(project, stateDir), artifactsDir: join(makeFolder(), "artifacts") };
  const results = await runCiJobs({ ...context, background, stores }, { ci, jobs }, context.stop.signal);
  // Children may start others.
  for (const child of background) await child;
  return results;
}

/** The jobs of one pipeline. */
export interface CiJobs {
  readonly ci: CiPipeline;
  readonly jobs: readonly PipelineJob<PlannedJob>[];
}

/** Runs the jobs of one pipeline in their order. */
function runCiJobs(context: CiContext, { ci, jobs }: CiJobs, signal: AbortSignal): Promise<JobResults> {
  const firstFailure = new AbortController();
  const shown = withoutGates(jobs);
  context.onPlanned(shown, ci.path);
  context.view.planned(inStages(shown, ci), ci.path);
  return runPipeline(jobs, {
    places: context.places,
    signal: AbortSignal.any([signal, firstFailure.signal]),
    onEvent: (event) => {
      if (!isGate(event.job)) context.onEvent(event, ci.path);
      if (ci.planned.isFailFast && hasFailed(event)) firstFailure.abort();
    },
    enterGroup: (name, groupSignal) => enterGroup(context, { language: "gitlab-ci", name }, groupSignal),
    run: (work, instanceSignal, of) => {
      // Whoever interrupts twice does not want to wait.
      const ownSignal = AbortSignal.any([instanceSignal, context.stop.hurry]);
      if (!startsChild(work)) return runCiJob(context, { ci, work, of }, ownSignal);
      return startChild(context, { ci, work, run: runCiJobs }, ownSignal);
    },
  });
}

// The gates between stages are nobody's jobs.
function withoutGates(jobs: readonly GraphJob[]): readonly GraphJob[] {
  return jobs
    .filter(({ id }) => !isGate(id))
    .map(({ id, needs }) => ({ id, needs: needs.filter((need) => !isGate(need)) }));
}

function inStages(jobs: readonly GraphJob[], { loaded }: CiPipeline): readonly OrderedJob[] {
  const ranks = new Map(loaded.stages.map((stage, index) => [stage, index]));
  const rankOf = ({ stage = "" }: OrderedJob): number => ranks.get(stage) ?? 0;
  return jobs
    .map(({ id, needs }): OrderedJob => ({ id, needs, stage: loaded.jobs.get(id)?.stage }))
    .toSorted((a, b) => rankOf(a) - rankOf(b));
}

function startsChild(work: PlannedJob): work is TriggerJob {
  return work.trigger !== undefined;
}

function hasFailed(event: PipelineEvent): boolean {
  return event.type === "instance-ended" && event.result.status === "failure" && !isPassed(event.result);
}
