import { messageOf } from "@steps/model";
import { CacheError, isCacheError } from "@steps/transfer";

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
