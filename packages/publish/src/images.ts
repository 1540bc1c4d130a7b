import { checkOptionNames, type OptionNames } from "@steps/model";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ImageName } from "@steps/model/image";
import { systemCode } from "@steps/transfer";
import { BuildError } from "./build-error.ts";
import type { BuildOptions, BuiltLayout } from "./build-image.ts";
import type { Published, PublishOptions } from "./publish-image.ts";
import { checkVersion } from "./version-tags.ts";

const OPTION_NAMES: OptionNames<BuildOptions> = {
  version: true,
  common: true,
  platforms: true,
  labels: true,
  baseDir: true,
  createdAtS: true,
  signal: true,
};

const PUBLISH_OPTION_NAMES: OptionNames<Omit<PublishOptions, "scratch">> = {
  archive: true,
  registry: true,
  repository: true,
  tag: true,
  version: true,
  env: true,
  onProgress: true,
  signal: true,
};

const PROMOTE_OPTION_NAMES: OptionNames<
  Omit<PublishOptions, "scratch" | "archive" | "tag"> & { readonly version: string }
> = { registry: true, repository: true, version: true, env: true, onProgress: true, signal: true };

/**
 * Builds an image into a file in the OCI layout, or into a new or empty folder where the name does not end in `.tar`.
 * Any client of OCI registries reads it; the same input gives the same bytes.
 *
 * @throws {BuildError} FILES_INVALID, IMAGE_INVALID @throws {TransferError} UNSAFE_ENTRY, ARCHIVE_TOO_LARGE, CANCELLED
 */
export async function buildImageArchive(output: string, options: BuildOptions): Promise<Pick<BuiltLayout, "digest">> {
  checkOptionNames("buildImageArchive()", options, OPTION_NAMES);
  const { buildImage } = await import("./build-image.ts");
  const path = resolve(output);
  if (path.endsWith(".tar")) {
    return await withScratch(async (scratch) => {
      const built = await buildImage(join(scratch, "image"), options);
      await (await import("./image-archive.ts")).packLayout(built.dir, path);
      return { digest: built.digest };
    });
  }
  if (!(await isEmpty(path))) {
    throw new BuildError("FILES_INVALID", `Cannot build image: the folder "${output}" is not empty`);
  }
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.${process.pid}.part`;
  try {
    const built = await buildImage(part, options);
    await rm(path, { recursive: true, force: true });
    await rename(part, path);
    return { digest: built.digest };
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/**
 * Publishes an image in the OCI layout to a registry, with all its platforms and the tags that its version moves.
 *
 * @throws {BuildError} ARCHIVE_INVALID, IMAGE_INVALID, VERSION_EXISTS, PUBLISH_FAILED
 * @throws {TransferError} AUTH_FAILED, TRANSPORT, CANCELLED
 */
export async function publishImageArchive(options: Omit<PublishOptions, "scratch">): Promise<Published> {
  checkOptionNames("publishImageArchive()", options, PUBLISH_OPTION_NAMES);
  const { publishImage } = await import("./publish-image.ts");
  return await withScratch((scratch) => publishImage({ ...options, scratch }));
}

/**
 * Copies an image with all its platforms to another repository or registry, under a version and the tags that it moves.
 *
 * @throws {BuildError} IMAGE_INVALID, VERSION_EXISTS, PUBLISH_FAILED, ARCHIVE_INVALID
 * @throws {BuildError} REFERENCE_NOT_FOUND, DIGEST_MISMATCH, ARCHIVE_TOO_LARGE @throws {TransferError} AUTH_FAILED, TRANSPORT, CANCELLED
 */
export async function promoteImage(
  from: ImageName,
  options: Omit<PublishOptions, "scratch" | "archive" | "tag"> & { readonly version: string },
): Promise<Published> {
  checkOptionNames("promoteImage()", options, PROMOTE_OPTION_NAMES);
  checkVersion(options.version);
  const { env, signal } = options;
  return await withScratch(async (dir) => {
    const { saveImage } = await import("./save-image.ts");
    await saveImage({ image: from, dir, env, signal });
    const { publishImage } = await import("./publish-image.ts");
    return await publishImage({ ...options, archive: dir, scratch: dir });
  });
}

async function withScratch<T>(run: (scratch: string) => Promise<T>): Promise<T> {
  const scratch = await mkdtemp(join(tmpdir(), "steps-image-"));
  try {
    return await run(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function isEmpty(path: string): Promise<boolean> {
  try {
    return (await readdir(path)).length === 0;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return true;
    throw error;
  }
}
