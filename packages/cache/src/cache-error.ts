import { isStepsError, messageOf, StepsError } from "@steps/model";
import type { TransferErrorCode } from "@steps/transfer";

/** The codes of `CacheError`. They do not change; docs/reference/errors.md lists them. */
export type CacheErrorCode =
  | TransferErrorCode
  /** The repository has no such tag, branch or commit, the archive or folder is not there. */
  | "REFERENCE_NOT_FOUND"
  /** A short commit that several commits start with. */
  | "REFERENCE_AMBIGUOUS"
  /** Bytes are not those that their id promises. */
  | "DIGEST_MISMATCH"
  /** The component is not the one that the trace names. */
  | "PIN_MISMATCH"
  /** The cache's folder is not ours, or others may write to it. */
  | "CACHE_UNSAFE"
  /** The cache's folder cannot be read or written. */
  | "CACHE_IO"
  | "GIT_MISSING"
  | "OFFLINE";

/** A component could not be brought into the cache. The cause is the failure of the transport, archive or disk. */
export class CacheError extends StepsError<CacheErrorCode> {
  // It is told by its name, and a bundler may give the class another one.
  override readonly name: string = "CacheError";
}

/** Tells whether something thrown is an error of the cache or of the transfer behind it (with this code). */
export function isCacheError(error: unknown, code?: CacheErrorCode): error is CacheError {
  return isStepsError(error, code) && (error.name === "CacheError" || error.name === "TransferError");
}

/** `OFFLINE`: something that only the network has. `what` is quoted. */
export function offlineError(what: string): CacheError {
  return new CacheError("OFFLINE", `Cannot fetch ${what}: it is not in the cache, and the run is offline`, {
    hint: "Run once without --offline (STEP_RUNNER_OFFLINE), or step-runner lock, which fetches all that steps name; a mirror or a folder can be given with --mirror, --component-source and --action-source.",
  });
}

/** Errors of ours as they are, everything else as a failure of the cache's disk. */
export function asCacheError(error: unknown, action: string): CacheError {
  if (isCacheError(error)) return error;
  return new CacheError("CACHE_IO", `Cannot ${action}: ${messageOf(error)}`, { cause: error });
}
