import type { Resource } from "@steps/model/event";
import type { RequestOf } from "@steps/model/kinds";
import { stat } from "node:fs/promises";
import type { FoundComponent, ResolveOptions } from "../component.ts";
import type { CacheContext } from "../context.ts";
import type { Fetcher } from "../fetcher.ts";
import { CacheError, isCacheError } from "../cache-error.ts";
import type { Proved, ProveOptions, Sought } from "../open-indexed.ts";
import { openIndexed } from "../open-indexed.ts";
import { nativeOf, proveFact, rememberFact } from "../proved-facts.ts";
import { singleFlight } from "../single-flight.ts";
import type { IndexEntry } from "../store/index-entry.ts";
import { writeIndexEntry } from "../store/index-entry.ts";
import { blobPath } from "../store/layout.ts";
import { withLock } from "../store/lock.ts";
import { publishTree, withStaging } from "../store/tree-store.ts";
import { withTimeout } from "../timeout.ts";
import { hasBlob, touch } from "./blob-store.ts";
import type { DownloadKind, DownloadLocation, TransferOptions } from "./download-location.ts";
import { fetchArchive, findLatest, openDownloadLocation } from "./download-location.ts";

/** The fetcher of a kind of component that is known by the digest of its bytes. */
export function downloadFetcher(kind: DownloadKind): Fetcher<DownloadRequest> {
  return {
    resolve: (context, request, options) => {
      return resolve(context, openDownloadLocation(request.url, kind, context.mirrors), { request, options });
    },
    prove(context, entry) {
      const sha256 = /^sha256-([0-9a-f]{64})$/.exec(entry.version)?.[1];
      return sha256 === undefined ? "unknown" : prove(context, kind, { entry, sha256 });
    },
    isResolved: (resolved) => /^(?:sha256:)?[0-9a-f]{64}$/.test(resolved),
  };
}

type DownloadRequest = RequestOf<DownloadKind["kind"]>;

/** Resolves an archive or a file: location to SHA-256, SHA-256 to tree. */
async function resolve(
  context: CacheContext,
  location: DownloadLocation,
  { request, options }: { readonly request: DownloadRequest; readonly options: ResolveOptions },
): Promise<FoundComponent> {
  const startedAt = performance.now();
  const wanted = pinnedDigest(location, options.pin) ?? checkedDigest(request.sha256);
  const found = wanted === undefined ? await latest(context, location, options) : { sha256: wanted, bytes: 0 };
  const report = (isHit: boolean, bytes: number): FoundComponent["fetch"] => ({
    isHit: isHit && bytes === 0,
    bytes,
    durationMs: performance.now() - startedAt,
  });
  const sought = soughtArchive(context, location, { ...options, sha256: found.sha256 });
  const opened = await openIndexed(context, sought);
  if ("dir" in opened) {
    const { entry, dir } = opened;
    return { resource: toResource(location, request, entry), dir, fetch: report(true, found.bytes) };
  }
  const unpacking = unpackOnce(context, location, { sha256: found.sha256, waiter: options });
  const unpacked = await unpacking.catch((error: unknown) => throwNamed(error, location));
  const again = await openIndexed(context, { ...sought, entry: unpacked.value.entry });
  if (!("dir" in again)) {
    throw new CacheError("DIGEST_MISMATCH", `Cannot use component "${location.uri}": its files changed again at once`);
  }
  const bytes = found.bytes + (unpacked.isFirst ? unpacked.value.bytes : 0);
  return {
    resource: toResource(location, request, again.entry),
    dir: again.dir,
    fetch: report(!unpacked.isFirst, bytes),
    note: opened.note,
  };
}

// The unpacker does not know the archive's origin, but the reader of the message has to.
function throwNamed(error: unknown, location: DownloadLocation): never {
  if (!isCacheError(error) || error.message.includes(location.uri)) throw error;
  throw new CacheError(error.code, `${error.message} (in "${location.uri}")`, { cause: error, hint: error.hint });
}

function pinnedDigest({ kind, noun }: DownloadKind, pin: Resource | undefined): string | undefined {
  if (pin === undefined) return undefined;
  const sha256 = pin.digest["sha256"];
  if (pin.kind === kind && sha256 !== undefined && /^[0-9a-f]{64}$/.test(sha256)) return sha256;
  throw new CacheError("PIN_MISMATCH", `Cannot pin component to "${pin.uri}": the trace names no ${noun}`);
}

function checkedDigest(sha256: string | undefined): string | undefined {
  const digest = sha256?.toLowerCase();
  if (digest === undefined || /^[0-9a-f]{64}$/.test(digest)) return digest;
  throw new CacheError("REFERENCE_INVALID", `Cannot use digest "${sha256}": it is not 64 hex digits`);
}

function keyOf(location: DownloadLocation, sha256: string): Pick<IndexEntry, "kind" | "location" | "version"> {
  return { kind: location.kind, location: location.uri, version: `sha256-${sha256}` };
}

function soughtArchive(
  context: CacheContext,
  location: DownloadLocation,
  { sha256, pin, signal }: ProveOptions,
): Sought {
  return {
    key: keyOf(location, sha256),
    pin,
    signal,
    prove: (entry) => prove(context, location, { entry, sha256, pin, signal }),
  };
}

/** Returns the tree that an archive unpacks to, read from the archive itself. */
async function prove(
  context: CacheContext,
  { kind, extract }: DownloadKind,
  { entry, sha256, pin, signal }: ProveOptions & { readonly entry: IndexEntry },
): Promise<Proved> {
  if (entry.resolved !== sha256) return "wrong";
  if (pin?.digest["gitTree"] === entry.gitTree) return "unknown";
  return await proveFact(context, { kind, id: sha256, gitTree: entry.gitTree }, async () => {
    const { layout, limits } = context;
    if (!(await hasBlob(layout, sha256))) return undefined;
    const archive = blobPath(layout, sha256);
    await touch(archive);
    return await extract(archive, undefined, { archiveBytes: (await stat(archive)).size, limits, signal });
  });
}

/** Returns the archive at a location: looked up once, and the same ever after for this object. */
async function latest(
  context: CacheContext,
  location: DownloadLocation,
  options: ResolveOptions,
): Promise<{ sha256: string; bytes: number }> {
  const key = `${location.kind}\0${location.uri}`;
  const known = context.frozen.get(key);
  if (known !== undefined) return { sha256: known, bytes: 0 };
  const { value, isFirst } = await singleFlight(context.ownFlights, key, {
    waiter: options,
    run: (shared) =>
      withTimeout(context.limits, shared, (transfer) =>
        withLock(context.layout, key, { signal: transfer.signal, run: () => findLatest(context, location, transfer) }),
      ),
  });
  const first = context.frozen.get(key) ?? value.sha256;
  context.frozen.set(key, first);
  return { sha256: first, bytes: isFirst ? value.bytes : 0 };
}

async function unpackOnce(
  context: CacheContext,
  location: DownloadLocation,
  { sha256, waiter }: { sha256: string; waiter: ResolveOptions },
): Promise<{ value: { entry: IndexEntry; bytes: number }; isFirst: boolean }> {
  const key = `${location.kind}\0${location.uri}\0${sha256}`;
  return await singleFlight(context.sharedFlights, `${context.layout.root}\0${key}`, {
    waiter,
    run: (shared) =>
      withTimeout(context.limits, shared, (transfer) =>
        withLock(context.layout, key, {
          signal: transfer.signal,
          run: async () => {
            // Another process may have unpacked it while we waited for the lock.
            const opened = await openIndexed(context, soughtArchive(context, location, { ...transfer, sha256 }));
            if ("dir" in opened) return { entry: opened.entry, bytes: 0 };
            const isHere = await hasBlob(context.layout, sha256);
            const bytes = isHere ? 0 : await fetchArchive(context, location, { ...transfer, sha256 });
            return { entry: await unpack(context, location, { ...transfer, sha256 }), bytes };
          },
        }),
      ),
  });
}

async function unpack(
  context: CacheContext,
  location: DownloadLocation,
  { sha256, signal, onProgress }: TransferOptions & { readonly sha256: string },
): Promise<IndexEntry> {
  const { layout, limits } = context;
  const archive = blobPath(layout, sha256);
  const archiveBytes = (await stat(archive)).size;
  onProgress?.({ phase: "unpack", totalBytes: archiveBytes });
  const tree = await withStaging(layout, async (staging) => {
    const written = await location.extract(archive, staging, { archiveBytes, limits, signal });
    const native = nativeOf(written);
    await publishTree(layout, staging, { limits, signal, gitTree: written.gitTree, native });
    rememberFact(location.kind, sha256, native);
    return written;
  });
  const entry: IndexEntry = {
    format: 2,
    ...keyOf(location, sha256),
    resolved: sha256,
    gitTree: tree.gitTree,
    bytes: tree.bytes,
    fetchedAt: Date.now(),
  };
  await writeIndexEntry(layout, entry);
  return entry;
}

function toResource(location: DownloadLocation, request: DownloadRequest, entry: IndexEntry): Resource {
  return {
    kind: location.kind,
    uri: location.uri,
    requestedVersion: "",
    resolvedVersion: "",
    digest: { sha256: entry.resolved, gitTree: entry.gitTree },
    isMutable: request.sha256 === undefined,
    ...(location.remote?.isMirror === true ? { downloadLocation: location.remote.url } : {}),
  };
}
