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
export { CacheError, isCacheError } from "./error.ts";
export type { CacheErrorCode } from "./error.ts";
export { DEFAULT_LIMITS } from "./limits.ts";
export type { Limits } from "./limits.ts";
