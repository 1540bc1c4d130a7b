import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import type { FetchProgress } from "../component.ts";
import type { CacheContext } from "../context.ts";
import { type Limits, type HttpAnswer, openRemote, readBody, type Remote, statusError } from "@steps/transfer";
import { CacheError, offlineError } from "../cache-error.ts";
import { readIndexEntry, writeIndexEntry } from "../store/index-entry.ts";
import type { Received } from "./blob-store.ts";
import type { WrittenTree } from "../tree/tree-writer.ts";
import { hasBlob, hashFile, storeBlob } from "./blob-store.ts";
import { requestPrivate } from "./request-private.ts";

export interface TransferOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: FetchProgress) => void) | undefined;
}

/** A kind of component that is known by the digest of its bytes. */
export interface DownloadKind {
  readonly kind: "zip" | "file";
  /** The word for it in messages. */
  readonly noun: string;
  /** Limit on its size besides that of the cache. */
  readonly maxBytes: number;
  /** Unpacks it to a folder; without a folder it is only digested. */
  readonly extract: (path: string, dir: string | undefined, options: ExtractOptions) => Promise<WrittenTree>;
}

/** The options of unpacking. */
export interface ExtractOptions {
  /** The size of what is unpacked, for the ratio of compression. */
  readonly archiveBytes: number;
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
}

/** The location of an archive or a file: on the disk or on a server. */
export type DownloadLocation = DownloadKind &
  (
    | { readonly uri: string; readonly path: string; readonly remote?: undefined }
    | { readonly uri: string; readonly remote: Remote; readonly path?: undefined }
  );

/** Reads the URL or path of an archive or a file. @throws {CacheError} REFERENCE_INVALID */
export function openDownloadLocation(
  text: string,
  kind: DownloadKind,
  mirrors: Readonly<Record<string, string>>,
): DownloadLocation {
  if (isAbsolute(text)) return { ...kind, uri: text, path: text };
  const remote = openRemote(text, mirrors);
  if (remote.scheme === "ssh") {
    throw new CacheError(
      "REFERENCE_INVALID",
      `Cannot use URL "${remote.location}": ${kind.noun}s are not fetched over ssh`,
    );
  }
  if (remote.scheme !== "file") return { ...kind, uri: remote.location, remote };
  const path = fileURLToPath(remote.url);
  return { ...kind, uri: path, path };
}

/**
 * The digest of what is at a location now. A server is asked only whether it changed; what it sends is kept.
 *
 * @throws {CacheError} OFFLINE, REFERENCE_NOT_FOUND and the errors of the transport
 */
export async function findLatest(
  context: CacheContext,
  location: DownloadLocation,
  options: TransferOptions,
): Promise<Received> {
  if (location.remote === undefined) {
    const found = await hashFile(location.path);
    if (found === undefined) throw notFound(location);
    return { sha256: found.sha256, bytes: 0 };
  }
  const key = { kind: location.kind, location: location.uri, version: "latest" } as const;
  const known = readIndexEntry(context.layout, key);
  if (context.isOffline) {
    if (known !== undefined) return { sha256: known.resolved, bytes: 0 };
    throw offline(location);
  }
  const isUsable = known?.etag !== undefined && (await hasBlob(context.layout, known.resolved));
  const headers: Record<string, string> = isUsable && known?.etag !== undefined ? { "if-none-match": known.etag } : {};
  const { remote, noun } = location;
  const answer = await requestPrivate(context, { remote, noun, headers, signal: options.signal });
  if (answer.response.status === 304 && known !== undefined) return { sha256: known.resolved, bytes: 0 };
  const received = await receive(context, location, { ...options, answer });
  const etag = answer.response.headers.get("etag");
  await writeIndexEntry(context.layout, {
    format: 2,
    ...key,
    resolved: received.sha256,
    gitTree: "0".repeat(64),
    ...(etag === null ? {} : { etag }),
    bytes: received.bytes,
    fetchedAt: Date.now(),
  });
  return received;
}

/** Brings an archive of a known digest into the cache. Gives its bytes. @throws {CacheError} DIGEST_MISMATCH, OFFLINE */
export async function fetchArchive(
  context: CacheContext,
  location: DownloadLocation,
  options: TransferOptions & { readonly sha256: string },
): Promise<number> {
  const { sha256, signal } = options;
  const accept = (received: Received): void => {
    if (received.sha256 === sha256) return;
    throw new CacheError(
      "DIGEST_MISMATCH",
      `Cannot use ${location.noun} "${location.uri}": its SHA-256 is ${received.sha256}, expected ${sha256}`,
    );
  };
  if (location.remote === undefined) {
    const isThere = await stat(location.path).then(
      (stats) => stats.isFile(),
      () => false,
    );
    if (!isThere) throw notFound(location);
    const maxBytes = Math.min(context.limits.maxDownloadBytes, location.maxBytes);
    await storeBlob(context.layout, createReadStream(location.path), { maxBytes, signal, accept });
    return 0;
  }
  if (context.isOffline) throw offline(location);
  const { remote, noun } = location;
  const answer = await requestPrivate(context, { remote, noun, signal });
  return (await receive(context, location, { ...options, answer, accept })).bytes;
}

async function receive(
  context: CacheContext,
  location: DownloadLocation,
  options: TransferOptions & {
    readonly answer: HttpAnswer;
    readonly accept?: (received: Received) => void;
  },
): Promise<Received> {
  const { answer, signal, onProgress, accept = () => undefined } = options;
  const { status, headers } = answer.response;
  const failure = statusError(location.uri, status);
  if (failure !== undefined) {
    await answer.response.body?.cancel();
    throw failure.code === "REPOSITORY_NOT_FOUND" ? notFound(location) : failure;
  }
  const maxBytes = Math.min(context.limits.maxDownloadBytes, location.maxBytes);
  const totalBytes = Number(headers.get("content-length") ?? Number.NaN);
  if (totalBytes > maxBytes) {
    await answer.response.body?.cancel();
    throw new CacheError("ARCHIVE_TOO_LARGE", `Cannot fetch "${location.uri}": it is larger than ${maxBytes} bytes`);
  }
  const content = counted(readBody(answer, { maxBytes, signal }), (bytes) =>
    onProgress?.({ phase: "fetch", bytes, ...(Number.isNaN(totalBytes) ? {} : { totalBytes }) }),
  );
  return await storeBlob(context.layout, content, { maxBytes, signal, accept });
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    onBytes(bytes);
    yield chunk;
  }
}

function notFound(location: DownloadLocation): CacheError {
  return new CacheError("REFERENCE_NOT_FOUND", `Cannot find ${location.noun} "${location.uri}"`);
}

function offline(location: DownloadLocation): CacheError {
  return offlineError(`"${location.uri}"`);
}
