/** How a job of a pipeline ended. A job of GitLab or GitHub that never started is `skipped`, or `cancelled` with its pipeline. */
export type JobStatus = "success" | "failure" | "cancelled" | "skipped";

/** The end of a job, as the jobs that need it see it. */
export interface JobResult {
  readonly status: JobStatus;
  /** When true, those that need the job treat its failure as a success, and the pipeline passes. Default: false. */
  readonly isAllowedToFail?: boolean;
  /**
   * When true, a job that was skipped keeps those behind it from running, such as a manual job that GitLab waits for.
   * Default: false.
   */
  readonly isBlocking?: boolean;
  /** The reason in one sentence, for a job that was skipped, cancelled or failed without a process. Absent otherwise. */
  readonly reason?: string;
  /** The exit code of a command line that ends with this job: that of the process that failed. Absent for all but failures. */
  readonly exitCode?: number;
  /** The number of times that the job was tried. Absent for a job that was tried once, or never. */
  readonly attempts?: number;
  /** The part of the code that the job's tests covered, in percent. Absent where none was found in its output. */
  readonly coverage?: number | undefined;
  /** The outputs that other jobs can read, by name. Default: none. */
  readonly outputs?: Readonly<Record<string, string>>;
}

/** The results of the jobs that ended, by the id of the job. */
export type JobResults = ReadonlyMap<string, JobResult>;

/** The state of the pipeline that a job may decide by, beside the results of the jobs that it needs. */
export interface PipelineState {
  /** When true, somebody has cancelled the pipeline; only a job that runs `always()` still starts. */
  readonly isCancelled: boolean;
}

/**
 * A job of a pipeline as the scheduler sees it. Its language decides, once the jobs it needs have ended, whether it runs
 * and as how many instances: a matrix may be made of the outputs of other jobs.
 */
export interface PipelineJob<Work> {
  /** The unique name of the job within its pipeline. */
  readonly id: string;
  /** The ids of the jobs that have to end before this one is decided. A stage is a job without instances that needs its members. */
  readonly needs: readonly string[];
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
