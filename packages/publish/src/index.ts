export { BuildError, type BuildErrorCode } from "./build-error.ts";
export type { BuildOptions, BuildPlatform, BuiltLayout } from "./build-image.ts";
export { buildImageArchive, promoteImage, publishImageArchive } from "./images.ts";
export type { Published, PublishOptions } from "./publish-image.ts";
export type { FileMap } from "./write-layer.ts";
