import { StepsError } from "@steps/model";

/**
 * - `JOURNAL_CORRUPT`: a line of a journal is not what was written.
 * - `SECRETS_TOO_LARGE`: a job has more secrets than can be masked.
 * - `TRACE_INVALID`: a text is no trace, or a trace lacks what is asked of it.
 * - `VERSION_UNSUPPORTED`: the trace was written by a newer runner and must not be replayed by this one.
 */
export type TraceErrorCode = "JOURNAL_CORRUPT" | "SECRETS_TOO_LARGE" | "TRACE_INVALID" | "VERSION_UNSUPPORTED";

/** A journal or a trace cannot be used. */
export class TraceError extends StepsError<TraceErrorCode> {}
