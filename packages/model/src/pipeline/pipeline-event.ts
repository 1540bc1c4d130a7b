import type { JobResult } from "./job-result.ts";

/** The events of a pipeline, in order. A table, a graph or a trace of the pipeline is a fold over them. */
export type PipelineEvent = JobDecided | InstanceDelayed | InstanceStarted | InstanceRetried | InstanceEnded | JobEnded;

/** All jobs that a job needs have ended, and it was decided. */
interface JobDecided {
  readonly type: "job-decided";
  readonly job: string;
  /** The names of the instances that will run; empty for a job that ends at once. */
  readonly instances: readonly string[];
}

/** An instance waits for its time. */
interface InstanceDelayed {
  readonly type: "instance-delayed";
  readonly job: string;
  readonly instance: string;
  /** The time that it waits, in milliseconds. */
  readonly delayMs: number;
}

/** An instance has begun to run. */
interface InstanceStarted {
  readonly type: "instance-started";
  readonly job: string;
  readonly instance: string;
}

/** An attempt of an instance failed, and another one follows. Whoever runs the instance tells it, since the scheduler knows no attempts. */
interface InstanceRetried {
  readonly type: "instance-retried";
  readonly job: string;
  readonly instance: string;
  /** The number of the attempt that failed, from 1. */
  readonly attempt: number;
  /** How it failed. */
  readonly result: JobResult;
}

/** An instance ended, or was cancelled before it began. */
interface InstanceEnded {
  readonly type: "instance-ended";
  readonly job: string;
  readonly instance: string;
  readonly result: JobResult;
}

/** A job ended with all its instances. */
interface JobEnded {
  readonly type: "job-ended";
  readonly job: string;
  readonly result: JobResult;
}
