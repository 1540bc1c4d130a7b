import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { CacheEntry } from "./component.ts";
import type { CacheContext } from "./context.ts";
import { systemCode } from "@steps/transfer";
import type { IndexEntry } from "./store/index-entry.ts";
import { readIndexFile } from "./store/index-entry.ts";
import type { Layout } from "./store/layout.ts";
import { leaseState } from "./store/lease.ts";

/**
 * All indexed versions whose tree is here, most recently used first. Those that were used together are ordered by location, tags and
 * branches before the commits and digests that they mean.
 */
export async function listEntries({ layout }: CacheContext): Promise<CacheEntry[]> {
  const trees = new Set(await listTrees(layout));
  const found = await readIndex(layout);
  const complete = found.filter(({ entry }) => trees.has(entry.gitTree));
  const byCommit = new Map(complete.map(({ entry }) => [`${entry.location}\0${entry.resolved}`, entry]));
  const entries: CacheEntry[] = [];
  for (const { entry } of found) {
    // A name only says which commit it meant; the commit's own entry says which tree that is.
    const tree = trees.has(entry.gitTree) ? entry : byCommit.get(`${entry.location}\0${entry.resolved}`);
    if (tree === undefined) continue;
    const { isLeased, lastUsedAt } = await leaseState(layout, tree.gitTree);
    entries.push({
      kind: entry.kind,
      uri: entry.location,
      version: entry.version.replace(/^sha256-/, ""),
      resolvedVersion: entry.resolved,
      gitTree: tree.gitTree,
      bytes: tree.bytes,
      fetchedAt: entry.fetchedAt,
      lastUsedAt,
      isLeased,
    });
  }
  return entries.toSorted((a, b) => b.lastUsedAt - a.lastUsedAt || byName(a, b));
}

function byName(a: CacheEntry, b: CacheEntry): number {
  return compare(a.uri, b.uri) || Number(isExact(a)) - Number(isExact(b)) || compare(a.version, b.version);
}

function isExact(entry: CacheEntry): boolean {
  return entry.version === entry.resolvedVersion;
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Lists the digests of all trees in the cache. */
export async function listTrees(layout: Layout): Promise<string[]> {
  return (await readdir(layout.trees)).filter((name) => /^[0-9a-f]{64}$/.test(name)).toSorted();
}

/** Lists the digests of all archives in the cache. */
export async function listBlobs(layout: Layout): Promise<string[]> {
  const folders = (await readdir(layout.blobs)).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const names = await Promise.all(folders.map((folder) => namesIn(join(layout.blobs, folder))));
  return names.flat().filter((name) => /^[0-9a-f]{64}$/.test(name));
}

/** All entries of the index with the files they are in. */
export async function readIndex(layout: Layout): Promise<{ path: string; entry: IndexEntry }[]> {
  return (await indexFiles(layout)).flatMap(({ path }) => {
    const entry = readIndexFile(path);
    return entry === undefined ? [] : [{ path, entry }];
  });
}

/** The files of the index, whatever is in them. */
export async function indexFiles(layout: Layout): Promise<{ path: string }[]> {
  const found: { path: string }[] = [];
  for (const kind of await namesIn(layout.index)) {
    for (const location of await namesIn(join(layout.index, kind))) {
      for (const name of await namesIn(join(layout.index, kind, location))) {
        found.push({ path: join(layout.index, kind, location, name) });
      }
    }
  }
  return found;
}

/** Names in a folder, none if it is missing or no folder. */
export async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return [];
    throw error;
  }
}
