import type { StopSignals } from "@steps/console/terminal";
import { setTimeout as sleep } from "node:timers/promises";
import { isStepsError } from "@steps/model";
import type { JobResult, JobResults } from "@steps/pipeline";
import type { PipelineView } from "@steps/pipeline-view";
import type { JobView, PipelineRequest, PipelineView as PodPipeline } from "@steps/pods";
import type { AdminClient } from "../admin-client.ts";
import { TraceReader } from "./trace-reader.ts";

const POLL_MS = 500;
/** Between two attempts to reach a pod that is away. */
const AWAY_MS = 2000;

/** A pipeline with its jobs, as the pod shows it. */
type PipelineWithJobs = PodPipeline & { readonly jobs: readonly JobView[] };

/** A pipeline that is followed. */
export interface Following {
  readonly pod: AdminClient;
  readonly view: PipelineView;
  readonly stop: StopSignals;
  readonly request: PipelineRequest;
  readonly id: number;
  readonly showsTraces: boolean;
}

/**
 * Follows a pipeline to its end, and shows it. A pod that is away is waited for. Whoever interrupts cancels the pipeline, and sees how
 * it ends; who interrupts twice leaves at once.
 */
export async function followPipeline(following: Following): Promise<JobResults> {
  const { pod, id, stop } = following;
  const rows = new JobRows(following);
  let isCancelled = false;
  for (;;) {
    if (stop.hurry.aborted) return rows.results;
    const isAsked = stop.signal.aborted;
    const path = isAsked && !isCancelled ? `/pipelines/${id}/cancel` : `/pipelines/${id}`;
    const pipeline = await reach(pod, path.endsWith("/cancel") ? "POST" : "GET", path);
    if (pipeline === undefined) {
      await pause(AWAY_MS, stop);
      continue;
    }
    isCancelled ||= isAsked;
    await rows.show(pipeline);
    // With manual jobs that nobody waits for it has a result and may still go on.
    if (pipeline.state !== "created" && pipeline.state !== "running") return rows.end(pipeline);
    await pause(POLL_MS, stop);
  }
}

/** Waits, or not, if the user has just interrupted. */
async function pause(ms: number, { signal, hurry }: StopSignals): Promise<void> {
  const until = signal.aborted ? hurry : AbortSignal.any([signal, hurry]);
  await sleep(ms, undefined, { signal: until }).catch(() => undefined);
}

async function reach(pod: AdminClient, method: string, path: string): Promise<PipelineWithJobs | undefined> {
  try {
    return await pod.call<PipelineWithJobs>(method, path);
  } catch (error) {
    if (isStepsError(error, "POD_UNREACHABLE")) return undefined;
    throw error;
  }
}

const ENDED: ReadonlySet<string> = new Set(["success", "failed", "canceled", "skipped"]);
const STARTED: ReadonlySet<string> = new Set(["running", "canceling", "success", "failed"]);

/** The jobs of a pipeline as they have been shown. */
class JobRows {
  readonly results: Map<string, JobResult> = new Map<string, JobResult>();
  readonly #following: Following;
  readonly #traces: TraceReader;
  readonly #started = new Set<number>();
  readonly #ended = new Set<number>();
  readonly #attempts = new Map<string, number>();

  constructor(following: Following) {
    this.#following = following;
    this.#traces = new TraceReader(following.pod, following.view);
  }

  async show({ jobs }: PipelineWithJobs): Promise<void> {
    for (const job of jobs) {
      const { view, showsTraces } = this.#following;
      const named = { job: job.name, instance: job.name } as const;
      if (STARTED.has(job.state) && job.attempt > 0 && !this.#started.has(job.id)) {
        this.#started.add(job.id);
        view.onEvent({ type: "instance-started", ...named }, "");
      }
      const isEnd = ENDED.has(job.state);
      if (showsTraces && job.trace_size > 0) await this.#traces.show(job, isEnd);
      if (isEnd && !this.#ended.has(job.id)) this.#finish(job);
    }
  }

  /** The results, with the jobs that wait for a person. */
  end({ jobs }: PipelineWithJobs): JobResults {
    for (const job of jobs.filter(({ id, retried }) => !this.#ended.has(id) && !retried)) {
      const reason = job.state === "manual" ? "It is started by hand" : "A job before it waits to be started by hand";
      this.#tell(job, { status: "skipped", reason });
    }
    return this.results;
  }

  #finish(job: JobView): void {
    this.#ended.add(job.id);
    const result = this.#resultOf(job);
    if (!job.retried) return this.#tell(job, result);
    const attempt = (this.#attempts.get(job.name) ?? 0) + 1;
    this.#attempts.set(job.name, attempt);
    const named = { job: job.name, instance: job.name } as const;
    this.#following.view.onEvent({ type: "instance-retried", ...named, attempt, result }, "");
  }

  #tell(job: JobView, result: JobResult): void {
    const earlier = this.#attempts.get(job.name);
    const whole = { ...result, attempts: earlier === undefined ? undefined : earlier + 1 } as JobResult;
    this.results.set(job.name, whole);
    if (result.status === "failure") this.#following.view.explain(job.name, this.#traces.explain(job));
    this.#following.view.onEvent({ type: "instance-ended", job: job.name, instance: job.name, result: whole }, "");
  }

  #resultOf({ name, state, failure_reason: reason, exit_code: exitCode }: JobView): JobResult {
    if (state === "success") return { status: "success" };
    if (state === "skipped")
      return { status: "skipped", reason: "A job before it did not pass, or its time did not come" };
    if (state === "canceled") return { status: "cancelled", reason: "The job was cancelled" };
    const { allow_failure: mayFail = false } = this.#following.request.jobs.find((job) => job.name === name) ?? {};
    const isAllowedToFail = typeof mayFail === "boolean" ? mayFail : mayFail.exit_codes.includes(exitCode ?? 1);
    return {
      status: "failure",
      reason:
        reason === "script_failure" || reason === null ? `exit code ${exitCode ?? 1}` : reason.replaceAll("_", " "),
      exitCode: exitCode ?? 1,
      isAllowedToFail,
    };
  }
}
