import type { Sql } from "../database/database.ts";
import type { JobState } from "../jobs/job.ts";

/** A trace: that of one attempt at a job, since the runner was last asked to send all of it again. */
export interface TraceKey {
  readonly id: number;
  readonly attempt: number;
  readonly trace_resets: number;
}

/** The end of a trace: the size and the checksum of what is there. */
export interface TraceEnd extends TraceKey {
  readonly trace_size: number;
  readonly trace_crc: number;
}

/** Bytes to put at the end of a trace. */
export interface TraceAppend extends TraceEnd {
  readonly bytes: Buffer;
  /** The checksum of all of it. */
  readonly crc: number;
}

/** The store of the bytes of traces. The row of the job says how many of them count. */
export interface TraceStore {
  /**
   * Appends bytes if the trace is still as the caller saw it and the attempt still counts: then gives the state of the job. Else
   * gives undefined, and nothing has happened.
   */
  readonly append: (append: TraceAppend) => Promise<JobState | undefined>;
  /** Reads at most `length` bytes from an offset; all of them must have been appended. */
  readonly read: (key: TraceKey, offset: number, length: number) => Promise<Buffer>;
  /** Removes the traces of jobs, of all their attempts, in the transaction that removes the jobs. */
  readonly remove: (sql: Sql, jobs: readonly number[]) => Promise<void>;
  /** Lets go of what is open. Nobody appends any more. */
  readonly close: () => Promise<void>;
}
