import type { Resource } from "@steps/model/event";
import { isDigest } from "@steps/model/image";
import type { RequestOf } from "@steps/model/kinds";
import { readFile } from "node:fs/promises";
import type { FoundComponent, ResolveOptions } from "../component.ts";
import type { CacheContext } from "../context.ts";
import type { Fetcher } from "../fetcher.ts";
import { CacheError, isCacheError } from "../cache-error.ts";
import type { Proved, ProveOptions, Sought } from "../open-indexed.ts";
import { openIndexed } from "../open-indexed.ts";
import { nativeOf, proveFact, rememberFact } from "../proved-facts.ts";
import { singleFlight } from "../single-flight.ts";
import type { IndexEntry } from "../store/index-entry.ts";
import { readIndexEntry, writeIndexEntry } from "../store/index-entry.ts";
import { withLock } from "../store/lock.ts";
import { publishTree, withStaging } from "../store/tree-store.ts";
import { withTimeout } from "../timeout.ts";
import type { TransferOptions } from "../download/download-location.ts";
import { fetchBlob, fetchManifest, findTag, storedLayers } from "./fetch-image.ts";
import {
  acceptablePlatforms,
  choosePlatform,
  type Descriptor,
  formatPlatform,
  type ImageLocation,
  type Manifest,
  openImage,
  openRegistry,
  parseObject,
  type RegistryClient,
  runnable,
  runningPlatform,
} from "@steps/transfer/registry";
import { unpackImage } from "./unpack-image.ts";

interface Resolution {
  readonly cache: CacheContext;
  readonly image: ImageLocation;
  readonly client: RegistryClient;
  /** The bytes that came over the network for this request alone. */
  bytes: number;
}

export const ociFetcher: Fetcher<RequestOf<"oci">> = {
  resolve: resolveOci,
  prove(context, entry) {
    const sha256 = /^sha256:([0-9a-f]{64})$/.exec(entry.version)?.[1];
    return sha256 === undefined ? "unknown" : proveImage(context, entry, { sha256 });
  },
  isResolved: (resolved) => /^(?:sha256:)?[0-9a-f]{64}$/.test(resolved),
};

/** Resolves an image: tag to digest, digest and platform to manifest, manifest to tree. */
async function resolveOci(
  cache: CacheContext,
  request: RequestOf<"oci">,
  options: ResolveOptions,
): Promise<FoundComponent> {
  const startedAt = performance.now();
  const image = openImage(request, cache.mirrors);
  const client = openRegistry(cache, image.endpoint, { stepEnv: request.env ?? {}, actions: "pull" });
  const resolution: Resolution = { cache, image, client, bytes: 0 };
  try {
    return await resolve(resolution, options, startedAt);
  } catch (error) {
    throw explain(error, image);
  }
}

async function resolve(resolution: Resolution, options: ResolveOptions, startedAt: number): Promise<FoundComponent> {
  const { cache, image } = resolution;
  const pinned = pinnedDigest(options.pin);
  const top = options.pin?.resolvedVersion ?? (await resolveTag(resolution, options));
  const sha256 = pinned ?? (await resolvePlatform(resolution, top, options));
  const sought = soughtImage(resolution, sha256, options);
  const opened = await openIndexed(cache, sought);
  const fresh = "dir" in opened ? undefined : await unpackOnce(resolution, sha256, options);
  const found = fresh === undefined ? opened : await openIndexed(cache, { ...sought, entry: fresh.entry });
  if (!("dir" in found)) {
    throw new CacheError("DIGEST_MISMATCH", `Cannot use image "${image.shown}": its files changed again at once`);
  }
  // The name is noted last, when what it leads to is there.
  await noteTag(resolution, { top, entry: found.entry });
  const note = "note" in opened ? opened.note : undefined;
  const warning = note ?? fresh?.warning;
  return {
    resource: toResource(image, top, found.entry),
    dir: found.dir,
    fetch: {
      isHit: fresh === undefined && resolution.bytes === 0,
      bytes: resolution.bytes,
      durationMs: performance.now() - startedAt,
    },
    note: warning,
  };
}

function toResource(image: ImageLocation, top: string, entry: IndexEntry): Resource {
  return {
    kind: "oci",
    uri: image.uri,
    requestedVersion: image.tag,
    resolvedVersion: top,
    digest: { sha256: entry.resolved, gitTree: entry.gitTree },
    isMutable: !isDigest(image.tag),
    downloadLocation: image.mirror,
  };
}

function pinnedDigest(pin: Resource | undefined): string | undefined {
  if (pin === undefined) return undefined;
  const sha256 = pin.digest["sha256"];
  if (pin.kind === "oci" && sha256 !== undefined && /^[0-9a-f]{64}$/.test(sha256)) return sha256;
  throw new CacheError("PIN_MISMATCH", `Cannot pin component to "${pin.uri}": the trace names no image`);
}

type Key = Pick<IndexEntry, "kind" | "location" | "version">;

// No tag has a colon, so none can be taken for a digest.
function manifestKey(image: ImageLocation, sha256: string): Key {
  return { kind: "oci", location: image.uri, version: `sha256:${sha256}` };
}

function tagKey(image: ImageLocation): Key {
  return { kind: "oci", location: image.uri, version: image.tag };
}

function soughtImage(resolution: Resolution, sha256: string, { pin, signal }: Omit<ProveOptions, "sha256">): Sought {
  const { cache, image } = resolution;
  const prove = (entry: IndexEntry): Promise<Proved> => proveImage(cache, entry, { sha256, pin, signal });
  return { key: manifestKey(image, sha256), pin, signal, prove };
}

/** Returns the tree that an image unpacks to, read from its manifest and layers. */
async function proveImage(
  cache: CacheContext,
  entry: IndexEntry,
  { sha256, pin, signal }: ProveOptions,
): Promise<Proved> {
  if (entry.resolved !== sha256) return "wrong";
  if (pin?.digest["gitTree"] === entry.gitTree) return "unknown";
  return await proveFact(cache, { kind: "oci", id: sha256, gitTree: entry.gitTree }, async () => {
    const layers = await storedLayers(cache, sha256);
    return layers && (await unpackImage(layers, undefined, { limits: cache.limits, signal }));
  });
}

/** The digest that a tag means: looked up once, the same ever after for this object. */
async function resolveTag(resolution: Resolution, options: ResolveOptions): Promise<string> {
  const { cache, image } = resolution;
  if (isDigest(image.tag)) return image.tag;
  const key = `oci\0${image.uri}\0${image.tag}`;
  const known = cache.frozen.get(key);
  if (known !== undefined) return known;
  const { value, isFirst } = await singleFlight(cache.ownFlights, key, {
    waiter: options,
    run: (shared) => withTimeout(cache.limits, shared, (transfer) => lookUpTag(resolution, transfer)),
  });
  if (isFirst) resolution.bytes += value.bytes;
  const first = cache.frozen.get(key) ?? value.digest;
  cache.frozen.set(key, first);
  return first;
}

async function lookUpTag(
  { cache, image, client }: Resolution,
  transfer: TransferOptions,
): Promise<{ digest: string; bytes: number }> {
  const known = readIndexEntry(cache.layout, tagKey(image))?.resolved;
  if (cache.isOffline && known !== undefined) return { digest: known, bytes: 0 };
  const context = { cache, image, client, ...transfer };
  // Registries count what is fetched, and looking is not counted.
  if (known !== undefined && (await findTag(context)) === known) return { digest: known, bytes: 0 };
  const { sha256, bytes } = await fetchManifest(context, image.tag);
  return { digest: `sha256:${sha256}`, bytes };
}

/** The digest of the manifest that this platform uses of what a digest stands for. */
async function resolvePlatform(resolution: Resolution, top: string, options: ResolveOptions): Promise<string> {
  const { cache, image, client } = resolution;
  const { value } = await singleFlight(cache.ownFlights, `oci\0${image.uri}\0${top}`, {
    waiter: options,
    run: (shared) =>
      withTimeout(cache.limits, shared, async (transfer) => {
        const fetched = await fetchManifest({ cache, image, client, ...transfer }, top);
        resolution.bytes += fetched.bytes;
        if (fetched.manifest.type === "image") return fetched.sha256;
        return await manifestIn(resolution, chooseManifest(image, fetched.manifest), transfer);
      }),
  });
  return value;
}

// A manifest under SHA-256 is known by its digest already; one under another hash is known when it is here.
async function manifestIn(resolution: Resolution, chosen: Descriptor, transfer: TransferOptions): Promise<string> {
  const sha256 = /^sha256:([0-9a-f]{64})$/.exec(chosen.digest)?.[1];
  if (sha256 !== undefined) return sha256;
  const { cache, image, client } = resolution;
  const fetched = await fetchManifest({ cache, image, client, ...transfer }, chosen.digest);
  resolution.bytes += fetched.bytes;
  return fetched.sha256;
}

function chooseManifest(image: ImageLocation, index: Extract<Manifest, { type: "index" }>): Descriptor {
  const usable = runnable(index.manifests);
  const chosen = choosePlatform(usable, runningPlatform());
  if (chosen !== undefined) return chosen;
  const platforms = usable.map(({ platform }) => (platform === undefined ? "no platform" : formatPlatform(platform)));
  throw new CacheError(
    "REFERENCE_NOT_FOUND",
    `Cannot use "${image.shown}": didn't find an image matching platform ${formatPlatform(runningPlatform())} or generic`,
    { hint: platforms.length === 0 ? "It is an index of nothing." : `It is for ${platforms.slice(0, 20).join(", ")}.` },
  );
}

interface Unpacked {
  readonly entry: IndexEntry;
  readonly warning: string | undefined;
}

async function unpackOnce(resolution: Resolution, sha256: string, waiter: ResolveOptions): Promise<Unpacked> {
  const { cache, image } = resolution;
  const key = `oci\0${image.uri}\0${sha256}`;
  const { value, isFirst } = await singleFlight(cache.sharedFlights, `${cache.layout.root}\0${key}`, {
    waiter,
    run: (shared) =>
      withTimeout(cache.limits, shared, (transfer) =>
        withLock(cache.layout, key, {
          signal: transfer.signal,
          run: async () => {
            // Another process may have unpacked it while we waited for the lock.
            const opened = await openIndexed(cache, soughtImage(resolution, sha256, transfer));
            if ("dir" in opened) return { entry: opened.entry, warning: undefined, bytes: 0 };
            return await fetchAndUnpack(resolution, sha256, transfer);
          },
        }),
      ),
  });
  if (isFirst) resolution.bytes += value.bytes;
  return value;
}

async function fetchAndUnpack(
  { cache, image, client }: Resolution,
  sha256: string,
  transfer: TransferOptions,
): Promise<Unpacked & { bytes: number }> {
  const context = { cache, image, client, ...transfer };
  const { manifest, bytes: manifestBytes } = await fetchManifest(context, `sha256:${sha256}`);
  if (manifest.type === "index") {
    throw new CacheError("ARCHIVE_INVALID", `Cannot use image "${image.shown}": it is an index inside of an index`);
  }
  const { limits } = cache;
  const declared = manifest.layers.reduce((sum, { size }) => sum + size, 0);
  if (declared > limits.maxDownloadBytes) {
    throw new CacheError(
      "ARCHIVE_TOO_LARGE",
      `Cannot fetch "${image.shown}": it is larger than ${limits.maxDownloadBytes} bytes`,
    );
  }
  const config = await fetchBlob(context, checkConfig(image, manifest.config));
  let bytes = manifestBytes + config.bytes;
  const paths: string[] = [];
  for (const layer of manifest.layers) {
    const fetched = await fetchBlob(context, layer);
    bytes += fetched.bytes;
    paths.push(fetched.path);
  }
  transfer.onProgress?.({ phase: "unpack", totalBytes: declared });
  const tree = await withStaging(cache.layout, async (staging) => {
    const written = await unpackImage(paths, staging, { limits, signal: transfer.signal });
    const native = nativeOf(written);
    await publishTree(cache.layout, staging, { limits, signal: transfer.signal, gitTree: written.gitTree, native });
    rememberFact("oci", sha256, native);
    return written;
  });
  const { gitTree } = tree;
  const entry: IndexEntry = {
    format: 2,
    ...manifestKey(image, sha256),
    resolved: sha256,
    gitTree,
    bytes: tree.bytes,
    fetchedAt: Date.now(),
  };
  await writeIndexEntry(cache.layout, entry);
  return { entry, bytes, warning: await platformWarning(config.path) };
}

const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

function checkConfig(image: ImageLocation, config: Descriptor): Descriptor {
  if (config.size <= MAX_CONFIG_BYTES) return config;
  throw new CacheError(
    "ARCHIVE_TOO_LARGE",
    `Cannot fetch "${image.shown}": its configuration is larger than ${MAX_CONFIG_BYTES} bytes`,
  );
}

// An image without an index is used whatever it is for: files that are no programs run everywhere.
async function platformWarning(path: string): Promise<string | undefined> {
  const { os, architecture, variant } = parseObject(await readFile(path, "utf8"));
  if (typeof os !== "string" || typeof architecture !== "string" || os === "" || os === "generic") return undefined;
  const platform = { os, architecture, ...(typeof variant === "string" ? { variant } : {}) };
  const running = runningPlatform();
  if (choosePlatform([{ platform }], running) !== undefined || acceptablePlatforms(running).length === 0)
    return undefined;
  return `The image is for ${formatPlatform(platform)}, and this is ${formatPlatform(running)}.`;
}

async function noteTag(
  { cache, image }: Resolution,
  { top, entry }: { top: string; entry: IndexEntry },
): Promise<void> {
  if (isDigest(image.tag) || cache.frozen.get(`oci\0${image.uri}\0${image.tag}`) !== top) return;
  const found = readIndexEntry(cache.layout, tagKey(image));
  if (found?.resolved === top && found.gitTree === entry.gitTree) return;
  await writeIndexEntry(cache.layout, { ...entry, ...tagKey(image), resolved: top });
}

// A text like `gitlab.com/group/project` is read as an image when git was meant and the revision forgotten.
function explain(error: unknown, image: ImageLocation): unknown {
  if (!isCacheError(error) || image.tag !== "latest" || error.hint !== undefined) return error;
  if (!["REFERENCE_NOT_FOUND", "AUTH_FAILED", "TRANSPORT", "ARCHIVE_INVALID"].includes(error.code)) return error;
  const path = image.uri.replace(/^oci:\/\//, "");
  const action = /^registry\.gitlab\.com\/([^/]+\/[^/]+)$/.exec(path)?.[1];
  const orAction = action === undefined ? "" : `; if a GitHub action was meant, ${action}@REV`;
  return new CacheError(error.code, error.message, {
    cause: error.cause,
    hint: `It was looked for as an OCI image. If a git repository was meant, write ${path}@REV${orAction}.`,
  });
}
