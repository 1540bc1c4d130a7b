import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { CacheContext } from "../context.ts";
import { type HttpAnswer, readBody, statusError } from "@steps/transfer";
import { CacheError, offlineError } from "../cache-error.ts";
import { blobPath } from "../store/layout.ts";
import { hasBlob, readBlob, storeBlob, touch } from "../download/blob-store.ts";
import type { TransferOptions } from "../download/download-location.ts";
import {
  ACCEPTED_MANIFESTS,
  type Descriptor,
  type ImageLocation,
  type Manifest,
  MAX_MANIFEST_BYTES,
  parseManifest,
  type RegistryClient,
} from "@steps/transfer/registry";

/** A manifest that is here. */
export interface FetchedManifest {
  readonly manifest: Manifest;
  /** The digest of the manifest's bytes, 64 hex digits. */
  readonly sha256: string;
  /** The number of bytes that came over the network for it. */
  readonly bytes: number;
}

interface FetchContext extends TransferOptions {
  readonly cache: CacheContext;
  readonly image: ImageLocation;
  readonly client: RegistryClient;
}

/** The digest that a tag has now; `undefined` when the registry does not say it by itself. */
export async function findTag(context: FetchContext): Promise<string | undefined> {
  const { client, image, signal } = context;
  const answer = await client.send({ ...manifestRequest(image, image.tag), method: "HEAD", signal });
  await answer.response.body?.cancel();
  if (answer.response.status === 404) throw notFound(image);
  if (!answer.response.ok) return undefined;
  const digest = answer.response.headers.get("docker-content-digest") ?? "";
  return /^sha256:[0-9a-f]{64}$/.test(digest) ? digest : undefined;
}

/**
 * Brings a manifest here, by tag or by digest. What comes by a digest is looked for in the cache first, and must have
 * that digest.
 *
 * @throws {CacheError} DIGEST_MISMATCH, REFERENCE_NOT_FOUND, ARCHIVE_INVALID, ARCHIVE_TOO_LARGE, OFFLINE, AUTH_FAILED, TRANSPORT
 */
export async function fetchManifest(context: FetchContext, reference: string): Promise<FetchedManifest> {
  const { cache, client, image, signal } = context;
  const known = /^sha256:([0-9a-f]{64})$/.exec(reference)?.[1];
  const stored = known === undefined ? undefined : readBlob(cache.layout, known, MAX_MANIFEST_BYTES);
  if (known !== undefined && stored !== undefined) {
    return { manifest: parseManifest(stored.toString()), sha256: known, bytes: 0 };
  }
  if (cache.isOffline) throw offline(image);
  const answer = await client.send({ ...manifestRequest(image, reference), signal });
  await refuseStatus(answer, image);
  const claimed = answer.response.headers.get("docker-content-digest");
  const content = hashing(limited(answer, image, { maxBytes: MAX_MANIFEST_BYTES, signal }), reference);
  const { sha256, bytes } = await storeBlob(cache.layout, content.chunks, {
    maxBytes: MAX_MANIFEST_BYTES,
    signal,
    accept: (received) => {
      const own = `sha256:${received.sha256}`;
      if (reference.includes(":")) expectDigest(image, content.digest() ?? own, reference);
      else if (claimed?.startsWith("sha256:") === true) expectDigest(image, own, claimed);
    },
  });
  const text = await readFile(blobPath(cache.layout, sha256), "utf8");
  const contentType = answer.response.headers.get("content-type");
  return { manifest: contentType === null ? parseManifest(text) : parseManifest(text, contentType), sha256, bytes };
}

/** The layers of an image whose manifest and layers are all here and what their digests say; `undefined` otherwise. */
export async function storedLayers({ layout }: CacheContext, sha256: string): Promise<string[] | undefined> {
  const stored = readBlob(layout, sha256, MAX_MANIFEST_BYTES);
  if (stored === undefined) return undefined;
  await touch(blobPath(layout, sha256));
  const manifest = parseManifest(stored.toString());
  if (manifest.type === "index") return undefined;
  const paths: string[] = [];
  for (const { digest } of manifest.layers) {
    const known = /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1];
    if (known === undefined || !(await hasBlob(layout, known))) return undefined;
    await touch(blobPath(layout, known));
    paths.push(blobPath(layout, known));
  }
  return paths;
}

/**
 * Brings a layer or a configuration here. Not a byte more is read than its descriptor says.
 *
 * @returns its path and how many bytes came over the network
 * @throws {CacheError} DIGEST_MISMATCH, ARCHIVE_TOO_LARGE, OFFLINE, AUTH_FAILED, TRANSPORT
 */
export async function fetchBlob(
  context: FetchContext,
  descriptor: Descriptor,
): Promise<{ path: string; bytes: number }> {
  const { cache, client, image, signal, onProgress } = context;
  const { digest, size } = descriptor;
  const { layout, limits } = cache;
  if (size > limits.maxDownloadBytes) {
    throw new CacheError(
      "ARCHIVE_TOO_LARGE",
      `Cannot fetch "${image.shown}": a layer is larger than ${limits.maxDownloadBytes} bytes`,
    );
  }
  const known = /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1];
  if (known !== undefined && (await hasBlob(layout, known))) {
    expectSize(image, digest, { actual: (await stat(blobPath(layout, known))).size, size });
    return { path: blobPath(layout, known), bytes: 0 };
  }
  if (cache.isOffline) throw offline(image);
  const { repository } = client.endpoint;
  const answer = await client.send({ path: `${repository}/blobs/${digest}`, signal });
  await refuseStatus(answer, image);
  const length = answer.response.headers.get("content-length");
  const isEncoded = answer.response.headers.has("content-encoding");
  if (length !== null && !isEncoded && Number(length) !== size) {
    await answer.response.body?.cancel();
    expectSize(image, digest, { actual: Number(length), size });
  }
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of readBody(answer, { maxBytes: Number.POSITIVE_INFINITY, signal })) {
      bytes += chunk.byteLength;
      if (bytes > size) expectSize(image, digest, { actual: bytes, size });
      onProgress?.({ phase: "fetch", bytes, totalBytes: size });
      yield chunk;
    }
  };
  const content = hashing(counted(), digest);
  const received = await storeBlob(layout, content.chunks, {
    maxBytes: limits.maxDownloadBytes,
    signal,
    accept: (found) => {
      expectSize(image, digest, { actual: found.bytes, size });
      expectDigest(image, content.digest() ?? `sha256:${found.sha256}`, digest);
    },
  });
  return { path: blobPath(layout, received.sha256), bytes: received.bytes };
}

function manifestRequest(
  { endpoint }: ImageLocation,
  reference: string,
): { path: string; headers: Record<string, string> } {
  return { path: `${endpoint.repository}/manifests/${reference}`, headers: { accept: ACCEPTED_MANIFESTS } };
}

async function refuseStatus(answer: HttpAnswer, image: ImageLocation): Promise<void> {
  const failure = statusError(image.uri, answer.response.status);
  if (failure === undefined) return;
  await answer.response.body?.cancel();
  throw failure.code === "REPOSITORY_NOT_FOUND" ? notFound(image) : failure;
}

async function* limited(
  answer: HttpAnswer,
  image: ImageLocation,
  options: { maxBytes: number; signal: AbortSignal | undefined },
): AsyncGenerator<Uint8Array> {
  const { maxBytes } = options;
  if (Number(answer.response.headers.get("content-length") ?? 0) > maxBytes) {
    await answer.response.body?.cancel();
    throw new CacheError(
      "ARCHIVE_TOO_LARGE",
      `Cannot fetch "${image.shown}": its manifest is larger than ${maxBytes} bytes`,
    );
  }
  yield* readBody(answer, options);
}

// The cache's own places are SHA-256; what is named by another hash is hashed twice.
function hashing(
  source: AsyncIterable<Uint8Array>,
  digest: string,
): { chunks: AsyncIterable<Uint8Array>; digest: () => string | undefined } {
  if (!digest.startsWith("sha512:")) return { chunks: source, digest: () => undefined };
  const hash = createHash("sha512");
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      hash.update(chunk);
      yield chunk;
    }
  };
  return { chunks: chunks(), digest: () => `sha512:${hash.digest("hex")}` };
}

function expectDigest(image: ImageLocation, actual: string, expected: string): void {
  if (actual === expected) return;
  throw new CacheError(
    "DIGEST_MISMATCH",
    `Cannot use image "${image.shown}": what came has the digest ${actual}, expected ${expected}`,
  );
}

function expectSize(image: ImageLocation, digest: string, { actual, size }: { actual: number; size: number }): void {
  if (actual === size) return;
  const found = actual > size ? `more than ${size}` : `${actual} of ${size}`;
  throw new CacheError("DIGEST_MISMATCH", `Cannot use image "${image.shown}": ${digest} has ${found} bytes`);
}

function notFound(image: ImageLocation): CacheError {
  return new CacheError("REFERENCE_NOT_FOUND", `Cannot find image "${image.shown}"`);
}

function offline(image: ImageLocation): CacheError {
  return offlineError(`"${image.shown}"`);
}
