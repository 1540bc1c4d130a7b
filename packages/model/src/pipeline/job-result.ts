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

/** The part of a job that makes the graph. */
export interface GraphJob {
  /** The unique name of the job within its pipeline. */
  readonly id: string;
  /** The ids of the jobs that have to end before this one is decided. A stage is a job without instances that needs its members. */
  readonly needs: readonly string[];
}
