export { createCache } from "./cache.ts";
export type { CacheOptions } from "./cache.ts";
export type {
  CacheEntry,
  CollectOptions,
  ComponentCache,
  FetchProgress,
  GcReport,
  ResolvedComponent,
  ResolveOptions,
  VerifyReport,
} from "./component.ts";
export type { ComponentRequest } from "@steps/model/kinds";
export { type GitSettings, readGitSettings } from "./credentials/git-settings.ts";
export { serversInNetrc } from "./credentials/netrc.ts";
export { gitFailure, isRefusedCommit } from "./git/git-failure.ts";
export { findGit, type GitCall, runGit } from "./git/git-process.ts";
export { DEFAULT_LIMITS, type Limits } from "@steps/transfer";
export { CacheError, type CacheErrorCode, isCacheError } from "./cache-error.ts";
