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
export { gitFailure, isRefusedCommit } from "./git/git-failure.ts";
export { findGit, type GitCall, runGit } from "./git/git-process.ts";
export { DEFAULT_LIMITS } from "./limits.ts";
export type { Limits } from "./limits.ts";
export { BuildError } from "./oci/build-error.ts";
export type { BuildErrorCode } from "./oci/build-error.ts";
export type { BuildOptions, BuildPlatform, BuiltLayout } from "./oci/build-image.ts";
export { buildImageArchive, promoteImage, publishImageArchive } from "./oci/images.ts";
export type { Published, PublishOptions } from "./oci/publish-image.ts";
export type { FileMap } from "./oci/write-layer.ts";
export { openRemote, type Remote } from "./remote.ts";
