export { createCache } from "./cache.ts";
export type { CacheOptions } from "./cache.ts";
export type {
  CacheEntry,
  CollectOptions,
  ComponentCache,
  ComponentRequest,
  FetchProgress,
  GcReport,
  ResolvedComponent,
  ResolveOptions,
  VerifyReport,
} from "./component.ts";
export { gitFailure, isRefusedCommit } from "./git/git-failure.ts";
export { findGit, type GitCall, runGit } from "./git/git-process.ts";
export { CacheError, type CacheErrorCode, DEFAULT_LIMITS, isCacheError, type Limits } from "@steps/transfer";
