import type { RunStatusJson, ValJson } from "@steps/proto";

/**
 * An event of a pipeline that may be stored and shown: plain JSON without a secret, with the time in milliseconds. `caller` is the
 * full name of the instance that calls the pipeline of a job; empty for a job of the outermost one.
 */
export type PipelineJournalEvent =
  | PipelineStarted
  | FileRead
  | JobPlanned
  | JobDecided
  | InstanceDelayed
  | InstanceStarted
  | AttemptStarted
  | AttemptEnded
  | InstanceEnded
  | JobEnded
  | PipelineNote
  | PipelineFinished;

/** The pipeline began. */
export interface PipelineStarted extends At {
  readonly type: "pipeline-started";
  readonly traceId: string;
  /** The trace that is replayed. Default: none. */
  readonly parentTraceId?: string;
  readonly runner: { readonly name: string; readonly version: string };
  /** The language of the file. */
  readonly language: PipelineLanguage;
  /** The file, as the user named it. */
  readonly source: string;
  /** The folder of the project: absolute. */
  readonly projectDir: string;
}

/** The languages of pipelines. */
export type PipelineLanguage = "gitlab-ci" | "github";

/** A file was read that the pipeline is made of. */
interface FileRead extends At {
  readonly type: "file-read";
  readonly path: string;
  /** 64 hex digits. */
  readonly sha256: string;
}

/** A job is part of the pipeline. */
interface JobPlanned extends OfJob {
  readonly type: "job-planned";
  readonly needs: readonly string[];
}

/** A job was decided; it has these instances. */
interface JobDecided extends OfJob {
  readonly type: "job-decided";
  readonly instances: readonly string[];
}

/** An instance waits for its time. */
interface InstanceDelayed extends OfInstance {
  readonly type: "instance-delayed";
  /** In milliseconds. */
  readonly delayMs: number;
}

/** An instance began. */
interface InstanceStarted extends OfInstance {
  readonly type: "instance-started";
}

/** A run of an instance began; its journal has this trace id. */
interface AttemptStarted extends OfInstance {
  readonly type: "attempt-started";
  readonly traceId: string;
}

/** A run of an instance ended. */
interface AttemptEnded extends OfInstance {
  readonly type: "attempt-ended";
  readonly traceId: string;
  readonly status: RunStatusJson;
  /** SHA-256 of the last line of its journal. */
  readonly journalRoot: string;
}

/** An instance ended, or was cancelled before it began. */
interface InstanceEnded extends OfInstance {
  readonly type: "instance-ended";
  readonly result: JobEnd;
}

/** A job ended with all its instances. */
interface JobEnded extends OfJob {
  readonly type: "job-ended";
  readonly result: JobEnd;
}

/** The end of a job or of an instance. */
export interface JobEnd {
  readonly status: RunStatusJson;
  readonly isAllowedToFail?: boolean;
  readonly reason?: string;
  readonly outputs?: Readonly<Record<string, ValJson>>;
}

/** A remark of the runner about the pipeline. */
interface PipelineNote extends At {
  readonly type: "pipeline-note";
  readonly message: string;
}

/** The pipeline ended. */
export interface PipelineFinished extends At {
  readonly type: "pipeline-finished";
  readonly status: RunStatusJson;
}

interface At {
  readonly at: number;
}

interface OfJob extends At {
  readonly caller: string;
  readonly job: string;
}

interface OfInstance extends OfJob {
  readonly instance: string;
}
