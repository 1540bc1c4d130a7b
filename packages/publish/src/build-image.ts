import { createHash } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_LIMITS } from "@steps/transfer";
import { BuildError } from "./build-error.ts";
import { formatPlatform, normalizePlatform, OCI_INDEX, OCI_MANIFEST, type Platform } from "@steps/transfer/registry";
import { checkVersion } from "./version-tags.ts";
import type { FileMap, WrittenLayer } from "./write-layer.ts";
import { writeLayer } from "./write-layer.ts";

/** One platform of an image, with the files that only it has. */
export interface BuildPlatform extends Platform {
  /** Beside the files of all platforms. Where it goes in the image: where it is taken from. */
  readonly files: FileMap;
  readonly osVersion?: string;
  readonly osFeatures?: readonly string[];
}

/** The content and metadata of an image that is built. */
export interface BuildOptions {
  /** A semantic version. */
  readonly version: string;
  /** Files of every platform. */
  readonly common: FileMap;
  /** None: one image for every platform, `generic`. */
  readonly platforms: readonly BuildPlatform[];
  /** Annotations of the index. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The folder that sources are relative to. */
  readonly baseDir: string;
  /** Seconds since 1970 that everything is dated with, 0 unless given. */
  readonly createdAtS?: number;
  readonly signal?: AbortSignal;
}

/** An image in the OCI layout, in a folder. */
export interface BuiltLayout {
  readonly dir: string;
  /** The digest of the index: `sha256:…`. */
  readonly digest: string;
}

const LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip";
const CONFIG_TYPE = "application/vnd.oci.image.config.v1+json";
export const VERSION_ANNOTATION = "org.opencontainers.image.version";
const REF_ANNOTATION = "org.opencontainers.image.ref.name";

/**
 * Builds an image for one or more platforms into a new folder, in the OCI layout. The same input gives the same bytes.
 *
 * @throws {BuildError} FILES_INVALID, IMAGE_INVALID @throws {TransferError} UNSAFE_ENTRY, ARCHIVE_TOO_LARGE, CANCELLED
 */
export async function buildImage(dir: string, options: BuildOptions): Promise<BuiltLayout> {
  const { common, createdAtS = 0 } = options;
  const version = checkVersion(options.version);
  const platforms = checkPlatforms(options);
  const created = new Date(createdAtS * 1000).toISOString().replace(".000Z", "Z");
  const layout = new LayoutWriter(dir);
  await layout.open();
  const layerOptions = {
    baseDir: options.baseDir,
    limits: DEFAULT_LIMITS,
    mtimeS: createdAtS,
    signal: options.signal,
  };
  const shared = Object.keys(common).length === 0 ? undefined : await layout.addLayer(common, layerOptions);
  const manifests: object[] = [];
  for (const platform of platforms) {
    const own =
      Object.keys(platform.files).length === 0 ? undefined : await layout.addLayer(platform.files, layerOptions);
    const layers = [shared, own].filter((layer) => layer !== undefined);
    const { os, architecture, variant, osVersion, osFeatures } = platform;
    const described = {
      architecture,
      os,
      variant,
      "os.version": osVersion,
      "os.features": osFeatures,
    };
    const config = await layout.addJson(CONFIG_TYPE, {
      created,
      ...described,
      config: {},
      rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
      history: layers.map(() => ({ created, created_by: "step-runner" })),
    });
    const manifest = await layout.addJson(OCI_MANIFEST, {
      schemaVersion: 2,
      mediaType: OCI_MANIFEST,
      config,
      layers: layers.map(({ sha256, size }) => ({ mediaType: LAYER_TYPE, digest: `sha256:${sha256}`, size })),
      annotations: { "org.opencontainers.image.created": created },
    });
    manifests.push({ ...manifest, platform: described });
  }
  const index = await layout.addJson(OCI_INDEX, {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests,
    annotations: {
      ...checkLabels(options.labels ?? {}),
      "org.opencontainers.image.created": created,
      [VERSION_ANNOTATION]: version,
    },
  });
  await layout.close({ ...index, annotations: { [REF_ANNOTATION]: version, [VERSION_ANNOTATION]: version } });
  return { dir, digest: index.digest };
}

function checkPlatforms({ common, platforms }: BuildOptions): BuildPlatform[] {
  const isCommon = Object.keys(common).length > 0;
  if (platforms.length === 0 && !isCommon) throw new BuildError("IMAGE_INVALID", "Cannot build image: it has no files");
  if (platforms.length === 0) return [{ os: "generic", architecture: "generic", files: {} }];
  const seen = new Set<string>();
  return platforms.map((platform) => {
    const normalized = { ...platform, ...normalizePlatform(platform) };
    const name = formatPlatform(normalized);
    if (!/^[a-z0-9_.-]+(?:\/[a-z0-9_.-]+){1,2}$/.test(name)) {
      throw new BuildError("IMAGE_INVALID", `Cannot build image: "${name.slice(0, 80)}" is no platform`, {
        hint: "A platform is OS/ARCHITECTURE or OS/ARCHITECTURE/VARIANT, as in linux/amd64.",
      });
    }
    if (seen.has(name))
      throw new BuildError("IMAGE_INVALID", `Cannot build image: the platform "${name}" is there twice`);
    seen.add(name);
    return normalized;
  });
}

function checkLabels(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (!Object.keys(labels).some((key) => key.trim() === "")) return labels;
  throw new BuildError("IMAGE_INVALID", "Cannot build image: a label has no name");
}

interface Stored {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** A folder in the OCI image layout. */
class LayoutWriter {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async open(): Promise<void> {
    await mkdir(join(this.#dir, "blobs", "sha256"), { recursive: true });
  }

  async addLayer(files: FileMap, options: Parameters<typeof writeLayer>[2]): Promise<WrittenLayer> {
    const part = this.#blob(".part");
    try {
      const layer = await writeLayer(part, files, options);
      const path = this.#blob(layer.sha256);
      await rename(part, path);
      return { ...layer, path };
    } finally {
      await rm(part, { force: true });
    }
  }

  async addJson(mediaType: string, value: object): Promise<Stored> {
    const data = Buffer.from(JSON.stringify(value));
    const sha256 = createHash("sha256").update(data).digest("hex");
    await writeFile(this.#blob(sha256), data);
    return { mediaType, digest: `sha256:${sha256}`, size: data.byteLength };
  }

  async close(top: object): Promise<void> {
    const index = { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [top] };
    await writeFile(join(this.#dir, "index.json"), JSON.stringify(index));
    await writeFile(join(this.#dir, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  }

  #blob(sha256: string): string {
    return join(this.#dir, "blobs", "sha256", sha256);
  }
}
