import { TransferError } from "../error.ts";
import type { Platform } from "./platform.ts";

/** Something in a registry that is named by its digest. */
export interface Descriptor {
  readonly mediaType: string;
  /** `sha256:` or `sha512:` and hex digits. */
  readonly digest: string;
  readonly size: number;
  readonly platform: Platform | undefined;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The manifest that a tag or digest names. */
export type Manifest =
  | { readonly type: "index"; readonly manifests: readonly Descriptor[] }
  | { readonly type: "image"; readonly config: Descriptor; readonly layers: readonly Descriptor[] };

/** The media type of an image index (OCI Image Specification 1.1). */
export const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
/** The media type of an image manifest (OCI Image Specification 1.1). */
export const OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json";
const DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";

/** The manifests that are understood, as the value of an `Accept` header. */
export const ACCEPTED_MANIFESTS: string = [OCI_INDEX, OCI_MANIFEST, DOCKER_LIST, DOCKER_MANIFEST].join(", ");

/** Larger manifests no registry need take (OCI distribution specification). */
export const MAX_MANIFEST_BYTES: number = 4 * 1024 * 1024;
const MAX_MANIFESTS = 1000;
const MAX_LAYERS = 128;
const LAYER =
  /^application\/(?:vnd\.oci\.image\.layer\.v1\.tar|vnd\.docker\.image\.rootfs\.diff\.tar|vnd\.gitlab\.step\.layer\.v1\.tar)(?:[.+](?:gzip|zstd))?$/;

/**
 * Reads a manifest. What it is must be clear: a document that is an index to one reader and an image to another
 * (CVE-2021-41190) is refused.
 *
 * @param contentType as the registry said it, if it did
 * @throws {TransferError} ARCHIVE_INVALID
 */
export function parseManifest(text: string, contentType?: string): Manifest {
  const json = parseObject(text);
  const stated = typeof json["mediaType"] === "string" ? json["mediaType"] : undefined;
  const sent = contentType?.replace(/;.*$/, "").trim().toLowerCase();
  if (json["schemaVersion"] !== 2) throw invalid("it has not the version 2");
  const isIndex = Array.isArray(json["manifests"]);
  const isImage = Array.isArray(json["layers"]);
  if (isIndex === isImage) throw invalid(isIndex ? "it is an index and an image" : "it is no index and no image");
  const allowed = isIndex ? [OCI_INDEX, DOCKER_LIST] : [OCI_MANIFEST, DOCKER_MANIFEST];
  if (stated !== undefined && !allowed.includes(stated)) throw invalid(`it says that it is "${shown(stated)}"`);
  const others = isIndex ? [OCI_MANIFEST, DOCKER_MANIFEST] : [OCI_INDEX, DOCKER_LIST];
  if (sent !== undefined && others.includes(sent)) throw invalid(`it was sent as "${shown(sent)}"`);
  if (isIndex) return { type: "index", manifests: readDescriptors(json["manifests"], "manifests", MAX_MANIFESTS) };
  return {
    type: "image",
    config: readDescriptor(json["config"], "config"),
    layers: readDescriptors(json["layers"], "layers", MAX_LAYERS).map(checkLayer),
  };
}

/** Reads JSON of an image that must be an object. @throws {TransferError} ARCHIVE_INVALID */
export function parseObject(text: string): Readonly<Record<string, unknown>> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new TransferError("ARCHIVE_INVALID", "Cannot read manifest of image: it is no JSON", { cause });
  }
  if (isObject(json)) return json;
  throw invalid("it is no JSON object");
}

/** The descriptors of an index that can be run: attestations and other company of an image cannot. */
export function runnable(manifests: readonly Descriptor[]): Descriptor[] {
  return manifests.filter(
    ({ mediaType, platform, annotations }) =>
      [OCI_MANIFEST, DOCKER_MANIFEST].includes(mediaType) &&
      platform?.os !== "unknown" &&
      annotations["vnd.docker.reference.type"] === undefined,
  );
}

function checkLayer(layer: Descriptor): Descriptor {
  if (LAYER.test(layer.mediaType)) return layer;
  const isForeign = /foreign|nondistributable/.test(layer.mediaType);
  throw invalid(isForeign ? "a layer of it is kept elsewhere" : `a layer of it is a "${shown(layer.mediaType)}"`);
}

function readDescriptors(value: unknown, what: string, maxItems: number): Descriptor[] {
  const items = value as readonly unknown[];
  if (items.length > maxItems) throw invalid(`it has more than ${maxItems} ${what}`);
  return items.map((item, index) => readDescriptor(item, `${what}[${index}]`));
}

function readDescriptor(value: unknown, what: string): Descriptor {
  if (!isObject(value)) throw invalid(`its ${what} is no descriptor`);
  const { mediaType, digest, size } = value;
  if (typeof mediaType !== "string") throw invalid(`its ${what} has no media type`);
  if (typeof digest !== "string" || !/^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/.test(digest)) {
    throw invalid(`its ${what} has no usable digest`);
  }
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) throw invalid(`its ${what} has no size`);
  if (Array.isArray(value["urls"]) && value["urls"].length > 0) throw invalid(`its ${what} is kept elsewhere`);
  const annotations = isObject(value["annotations"]) ? value["annotations"] : {};
  const texts = Object.entries(annotations).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return { mediaType, digest, size, platform: readPlatform(value["platform"]), annotations: Object.fromEntries(texts) };
}

function readPlatform(value: unknown): Platform | undefined {
  if (!isObject(value)) return undefined;
  const { os, architecture, variant } = value;
  if (typeof os !== "string" || typeof architecture !== "string") return undefined;
  return { os, architecture, ...(typeof variant === "string" ? { variant } : {}) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(text: string): string {
  return text.slice(0, 100).replaceAll(/[^\u0020-\u007e]/g, "?");
}

function invalid(problem: string): TransferError {
  return new TransferError("ARCHIVE_INVALID", `Cannot read manifest of image: ${problem}`);
}
