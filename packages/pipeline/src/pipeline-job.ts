import type { GraphJob, JobResult, JobResults } from "@steps/model/pipeline";

/** The state of the pipeline that a job may decide by, beside the results of the jobs that it needs. */
export interface PipelineState {
  /** When true, somebody has cancelled the pipeline; only a job that runs `always()` still starts. */
  readonly isCancelled: boolean;
}

/**
 * A job of a pipeline as the scheduler sees it. Its language decides, once the jobs it needs have ended, whether it runs
 * and as how many instances: a matrix may be made of the outputs of other jobs.
 */
export interface PipelineJob<Work> extends GraphJob {
  /** Decides the job. It is called once; what it throws ends the pipeline. */
  readonly decide: (results: JobResults, state: PipelineState) => Decision<Work> | Promise<Decision<Work>>;
}

/** The decision about a job: its result at once, or instances to run. */
export type Decision<Work> = { readonly result: JobResult } | { readonly run: InstanceSet<Work> };

/** The instances of one job; a job without a matrix has one. */
export interface InstanceSet<Work> {
  readonly instances: readonly Instance<Work>[];
  /** The number of instances that may run at once. Default: as many as the pipeline allows. */
  readonly maxParallel?: number;
  /** When true, the first failure cancels the other instances of the job. Default: false. */
  readonly isFailFast?: boolean;
}

/** One run of a job. */
export interface Instance<Work> {
  /** The name that people see, unique within the pipeline: `test [1, linux]`. */
  readonly name: string;
  /** The language's own description of the work; the scheduler passes it on. */
  readonly work: Work;
  /** The name of a group of which one instance runs at a time, in the order of their turns. Default: no group. */
  readonly group?: string;
  /**
   * When true, the instance takes none of the pipeline's places, because its work is a pipeline that takes them itself.
   * Default: false.
   */
  readonly holdsNoPlace?: boolean;
  /** The time to wait before the instance may start, in milliseconds. Default: 0. */
  readonly delayMs?: number;
}
