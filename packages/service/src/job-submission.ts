import type { RunOptions } from "@steps/engine";
import type { Job, Status } from "@steps/model";
import type { StepResultJson, TraceJson } from "@steps/proto";

/**
 * The job of a submission. The table says the rest of it: it came by a service, its local references start in its work
 * directory, and its variables are those of the submission, which may be files.
 */
export type SubmittedJob = Omit<Job, "entry" | "vars" | "baseDir">;

/** A job with all that the job table has to know to run it, whichever service it came by. */
export interface JobSubmission {
  /** The name of the job in the table. */
  readonly id: string;
  /** The SHA-256 of the request in a canonical form. It tells a repeated request from another one. */
  readonly requestDigest: string;
  /**
   * Whether another request under a known id is refused, also when the job was closed. When false, any request under a known id is
   * taken for a repetition, as GitLab's service has it.
   */
  readonly refusesOtherRequest: boolean;
  /** The SHA-256 of the job's token. Whoever follows, cancels or closes the job has to know the token. Absent when it has none. */
  readonly tokenDigest?: string;
  /**
   * The job. Its `env` is added to the ambient environment of the service, its `workDir` is made with mode 0700 if it is
   * not there, and all of its `grants` are masked.
   */
  readonly job: SubmittedJob;
  /** The job variables. */
  readonly variables: readonly JobVariable[];
  /** How long the job may take, in milliseconds. Default: as long as it needs. */
  readonly timeoutMs?: number;
  /** How long a cancelled step has between TERM and KILL, in milliseconds. Default: that of the service. */
  readonly graceMs?: number;
  /** Prefixes of tokens that are masked with those of GitLab. Default: none. */
  readonly tokenPrefixes?: readonly string[];
  /** The caller's notes on the run before it begins. Default: none. */
  readonly notes?: NonNullable<RunOptions["notes"]>;
  /** The lines that head the sections of the log, by the names of the job's own steps. Default: there are no sections. */
  readonly sections?: Readonly<Record<string, string>>;
  /** When true, unknown keys in the step files that are loaded are warnings. Default: false, they are errors. */
  readonly isLenient?: boolean;
}

/** A job variable as a caller sends it. */
export interface JobVariable {
  readonly key: string;
  readonly value: string;
  /** The value goes to a file (mode 0600, removed when the job has ended); the variable is its path. */
  readonly isFile: boolean;
  readonly isMasked: boolean;
}

/** The state of a job at one moment. */
export interface JobInfo {
  readonly id: string;
  readonly status: "running" | Status;
  /** The time of the start, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly finishedAt?: number;
  /** The exit code that `step-runner run` would have. */
  readonly exitCode?: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly tokenDigest?: string;
  /** How much can be read. */
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
}

/** A piece of the output of a job's processes; `offset` is that of its first byte in its own stream. */
export interface OutputPiece {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
  readonly offset: number;
}

/** One state of the result tree. */
export interface ResultState {
  readonly result: StepResultJson;
  readonly info: JobInfo;
}

/** A job in the table, running or ended. */
export interface JobHandle {
  readonly id: string;
  readonly info: JobInfo;
  readonly requestDigest: string;
  /** Resolves when the job has ended and all of its output can be read. Never rejects. */
  readonly ended: Promise<void>;
  /** Asks the job to end: TERM, grace, KILL. Does nothing to one that ended. The name of a signal says in its error why. */
  cancel(signalName?: string): void;
  /** Ends the grace of a job that was cancelled. */
  hurry(): void;
  /**
   * Output in order of arrival from the offsets on, in pieces of at most 64 KiB; ends when the job has. Reads from the
   * disk at the caller's pace. Like the two below, it ends without an error when the signal is aborted.
   *
   * @throws {ServiceError} OFFSET_OUT_OF_RANGE for an offset beyond the end of a job that ended; JOB_NOT_FOUND if the job is
   * closed or expires before all was read; LOG_DAMAGED
   */
  readOutput(
    offsets: { readonly stdout: number; readonly stderr: number },
    signal: AbortSignal,
  ): AsyncIterable<OutputPiece>;
  /** The log as GitLab's runner reads it, lines with stamps, from a byte offset on, in pieces of at most 64 KiB. */
  readStamped(offset: number, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** The state now, then every later one; states that a slow caller missed are left out, never the last. */
  readResults(signal: AbortSignal): AsyncIterable<ResultState>;
  /**
   * The trace of a job that ended; `undefined` while it runs, and for one that never began.
   *
   * @throws {EngineError} JOURNAL_CHANGED if a step wrote in the job's journal
   * @throws {TraceError} JOURNAL_CORRUPT
   */
  trace(): TraceJson | undefined;
}

/** All jobs of a service, those that run and those that ended. */
export interface JobTable extends AsyncDisposable {
  /** An id that is chosen anew at each start of the service. */
  readonly instance: string;
  readonly runner: { readonly name: string; readonly version: string };
  /**
   * Starts a job, or finds the one that the same request started before.
   *
   * @throws {ServiceError} JOB_EXISTS for another request under a known id; TOO_MANY_JOBS; SERVICE_DRAINING; JOB_CLOSED for a
   * request whose job was run and closed before; WORK_DIR_UNUSABLE; STATE_UNUSABLE if the disk does not take the job
   */
  run(submission: JobSubmission): JobHandle;
  get(id: string): JobHandle | undefined;
  /** The oldest first. */
  list(): readonly JobHandle[];
  /** Takes no new jobs from now on; those that run go on. */
  drain(): void;
  readonly isDraining: boolean;
  /** The figures of the table in the text format of Prometheus. */
  metrics(): string;
  /** Ends the job if it runs, forgets it and removes its files; nothing for an unknown id. */
  close(id: string): Promise<void>;
  /** Ends every job that runs (TERM, grace, KILL), and waits for that. Ended jobs stay on disk. */
  [Symbol.asyncDispose](): Promise<void>;
}
