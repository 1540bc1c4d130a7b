import { isStepsError, StepsError } from "@steps/model";

export type CacheErrorCode =
  /** The repository has no such tag, branch or commit, the archive or folder is not there. */
  | "REFERENCE_NOT_FOUND"
  /** A short commit that several commits start with. */
  | "REFERENCE_AMBIGUOUS"
  /** A URL, version or digest that no component can have. */
  | "REFERENCE_INVALID"
  | "REPOSITORY_NOT_FOUND"
  | "AUTH_FAILED"
  | "TRANSPORT"
  /** Bytes are not those that their id promises. */
  | "DIGEST_MISMATCH"
  /** The component is not the one that the trace names. */
  | "PIN_MISMATCH"
  | "ARCHIVE_INVALID"
  | "ARCHIVE_TOO_LARGE"
  | "UNSAFE_ENTRY"
  /** The cache's folder is not ours, or others may write to it. */
  | "CACHE_UNSAFE"
  /** The cache's folder cannot be read or written. */
  | "CACHE_IO"
  | "GIT_MISSING"
  | "OFFLINE"
  | "CANCELLED";

/**
 * A component could not be brought into the cache, or an image not built or published. The cause is the failure of the
 * transport, archive or disk.
 */
export class CacheError extends StepsError<CacheErrorCode> {}

/** Whether something thrown is a `CacheError` (with this code). */
export function isCacheError(error: unknown, code?: CacheErrorCode): error is CacheError {
  return isStepsError(error, code) && error.name === "CacheError";
}

/** Throws `CANCELLED` once a signal is aborted. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled(signal);
}

/** The error of an aborted signal: `CANCELLED`, or the signal's own reason where that is an error of ours. */
export function cancelled(signal: AbortSignal): CacheError {
  if (isCacheError(signal.reason)) return signal.reason;
  return new CacheError("CANCELLED", "Cannot resolve component: the request was cancelled", { cause: signal.reason });
}

/** The code of a system error (`ENOENT`). */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
