import type { EngineOptions } from "@steps/engine";
import type { FetchOptions } from "./run-flags.ts";

/** Tells the cache how components are fetched. */
export function cacheOptions(options: Partial<FetchOptions>): NonNullable<EngineOptions["cache"]> {
  const { git, gitCredentials, offline, legacyRefs, mirror } = options;
  return { git, gitCredentials, isOffline: offline, hasLegacyRefs: legacyRefs, mirrors: mirror };
}
