import type { Resource } from "@steps/model/event";
import type { RequestOf } from "@steps/model/kinds";
import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { FoundComponent, ResolveOptions } from "../component.ts";
import type { CacheContext } from "../context.ts";
import type { Fetcher } from "../fetcher.ts";
import { systemCode } from "@steps/transfer";
import { CacheError } from "../cache-error.ts";
import type { FolderHash } from "../tree/tree-hash.ts";
import { hashFolder } from "../tree/tree-hash.ts";

export const localFetcher: Fetcher<RequestOf<"local">> = { resolve: resolveLocal };

/**
 * Resolves a folder where it is. Its digest covers everything in it but `.git`; a folder that is too large or holds
 * what has no digest gets none, and a note that says so.
 *
 * @throws {CacheError} REFERENCE_NOT_FOUND, REFERENCE_INVALID, PIN_MISMATCH
 */
async function resolveLocal(
  context: CacheContext,
  request: RequestOf<"local">,
  { signal }: ResolveOptions,
): Promise<FoundComponent> {
  const startedAt = performance.now();
  if (!isAbsolute(request.dir)) {
    throw new CacheError("REFERENCE_INVALID", `Cannot use folder "${request.dir}": its path is not absolute`);
  }
  const dir = resolve(request.dir);
  const hashed = await hash(context, dir, signal);
  const problem = "problem" in hashed ? hashed.problem : undefined;
  const resource: Resource = {
    kind: "local",
    uri: dir,
    requestedVersion: "",
    resolvedVersion: "",
    digest: "problem" in hashed ? {} : { gitTree: hashed.gitTree },
    isMutable: true,
  };
  const fetch = { isHit: true, bytes: 0, durationMs: performance.now() - startedAt };
  if (problem === undefined) return { resource, dir, isInPlace: true, fetch };
  return { resource, dir, isInPlace: true, fetch, note: `The folder has no digest: ${problem}.` };
}

async function hash(
  { limits, digests, excluded }: CacheContext,
  dir: string,
  signal: AbortSignal | undefined,
): Promise<FolderHash> {
  try {
    const real = await realpath(dir);
    if (!(await stat(real)).isDirectory()) throw notFound(dir);
    return await hashFolder(real, {
      maxEntries: limits.maxEntries,
      maxTotalBytes: limits.maxTotalBytes,
      isGitSkipped: true,
      excluded,
      signal,
      remembered(path, stats) {
        const known = digests.get(join(real, path));
        return known?.signature === signatureOf(stats) ? known.digest : undefined;
      },
      onFile: (path, stats, digest) => void digests.set(join(real, path), { signature: signatureOf(stats), digest }),
    });
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw notFound(dir);
    if (code === "EACCES" || code === "EPERM") return { problem: "a part of it cannot be read" };
    throw error;
  }
}

function signatureOf(stats: Stats): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(":");
}

function notFound(dir: string): CacheError {
  return new CacheError("REFERENCE_NOT_FOUND", `Cannot find folder "${dir}"`);
}
