import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CacheEntry, VerifyReport } from "./component.ts";
import type { CacheContext } from "./context.ts";
import { systemCode } from "./error.ts";
import type { IndexEntry } from "./store/index-entry.ts";
import { readIndexFile } from "./store/index-entry.ts";
import type { Layout } from "./store/layout.ts";
import { blobPath } from "./store/layout.ts";
import { leaseState } from "./store/lease.ts";
import { readTree, removePublishedTree } from "./store/tree-store.ts";
import { hashFile } from "./zip/blob-store.ts";

/** All indexed versions whose tree is here, most recently used first. */
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
  return entries.toSorted((a, b) => b.lastUsedAt - a.lastUsedAt || (a.version < b.version ? -1 : 1));
}

/** Reads every tree and archive in full; what is not what its name says is removed. */
export async function verifyAll({ layout, limits }: CacheContext): Promise<VerifyReport> {
  const damaged: { path: string; expected: string; actual: string }[] = [];
  const trees = await listTrees(layout);
  for (const gitTree of trees) {
    const found = await readTree(layout, gitTree, { limits });
    if (found === undefined || (!("problem" in found) && found.gitTree === gitTree)) continue;
    const actual = "problem" in found ? found.problem : found.gitTree;
    damaged.push({ path: join(layout.trees, gitTree), expected: gitTree, actual });
    await removePublishedTree(layout, gitTree);
  }
  const blobs = await listBlobs(layout);
  for (const sha256 of blobs) {
    const path = blobPath(layout, sha256);
    const found = await hashFile(path);
    if (found === undefined || found.sha256 === sha256) continue;
    damaged.push({ path, expected: sha256, actual: found.sha256 });
    await rm(path, { force: true });
  }
  return { trees: trees.length, archives: blobs.length, damaged };
}

/** Digests of all trees that are here. */
export async function listTrees(layout: Layout): Promise<string[]> {
  return (await readdir(layout.trees)).filter((name) => /^[0-9a-f]{64}$/.test(name)).toSorted();
}

/** Digests of all archives that are here. */
export async function listBlobs(layout: Layout): Promise<string[]> {
  const folders = (await readdir(layout.blobs)).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const names = await Promise.all(folders.map((folder) => namesIn(join(layout.blobs, folder))));
  return names.flat().filter((name) => /^[0-9a-f]{64}$/.test(name));
}

/** All entries of the index with the files they are in. */
export async function readIndex(layout: Layout): Promise<{ path: string; entry: IndexEntry }[]> {
  const found: { path: string; entry: IndexEntry }[] = [];
  for (const kind of await namesIn(layout.index)) {
    for (const location of await namesIn(join(layout.index, kind))) {
      for (const name of await namesIn(join(layout.index, kind, location))) {
        const path = join(layout.index, kind, location, name);
        const entry = readIndexFile(path);
        if (entry !== undefined) found.push({ path, entry });
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
