import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { VerifyReport } from "./component.ts";
import type { CacheContext } from "./context.ts";
import { fetcherOf } from "./fetchers.ts";
import { isUsableStore } from "./git/git-store.ts";
import { indexFiles, listBlobs, listTrees, namesIn } from "./maintenance.ts";
import type { IndexEntry } from "./store/index-entry.ts";
import { indexPath, readIndexFile } from "./store/index-entry.ts";
import { blobPath } from "./store/layout.ts";
import { checkTree, readTree, removePublishedTree } from "./store/tree-store.ts";
import { hashFile } from "./download/blob-store.ts";

type Damage = VerifyReport["damaged"][number];

/** Reads and proves everything; what is not what its name says is removed. */
export async function verifyAll(context: CacheContext): Promise<VerifyReport> {
  const trees = await listTrees(context.layout);
  const blobs = await listBlobs(context.layout);
  const damaged: Damage[] = [];
  for (const gitTree of trees) damaged.push(...(await verifyTree(context, gitTree)));
  for (const sha256 of blobs) damaged.push(...(await verifyBlob(context, sha256)));
  for (const store of await namesIn(context.layout.stores)) damaged.push(...(await verifyStore(context, store)));
  for (const { path } of await indexFiles(context.layout)) damaged.push(...(await verifyEntry(context, path)));
  return { trees: trees.length, archives: blobs.length, damaged };
}

async function verifyTree({ layout, limits }: CacheContext, gitTree: string): Promise<Damage[]> {
  const found = await readTree(layout, gitTree, { limits });
  if (found === undefined || (!("problem" in found) && found.gitTree === gitTree)) return [];
  await removePublishedTree(layout, gitTree);
  const actual = "problem" in found ? found.problem : found.gitTree;
  return [{ path: join(layout.trees, gitTree), expected: gitTree, actual }];
}

async function verifyBlob({ layout }: CacheContext, sha256: string): Promise<Damage[]> {
  const path = blobPath(layout, sha256);
  const found = await hashFile(path);
  if (found === undefined || found.sha256 === sha256) return [];
  await rm(path, { force: true });
  return [{ path, expected: sha256, actual: found.sha256 }];
}

async function verifyStore({ layout }: CacheContext, name: string): Promise<Damage[]> {
  const path = join(layout.stores, name);
  if (await isUsableStore(layout, path)) return [];
  return [{ path, expected: "a repository with our configuration", actual: "another one" }];
}

/** Proves what an entry says of a commit or digest. Of a name nothing can be proved but that it is well-formed. */
async function verifyEntry(context: CacheContext, path: string): Promise<Damage[]> {
  const entry = readIndexFile(path);
  const isInPlace = entry !== undefined && path === indexPath(context.layout, entry);
  const problem = isInPlace ? await entryProblem(context, entry) : "an entry that cannot be read or has another name";
  if (problem === undefined) return [];
  await rm(path, { force: true });
  return [{ path, expected: entry === undefined ? "an entry" : `${entry.location} ${entry.version}`, actual: problem }];
}

async function entryProblem(context: CacheContext, entry: IndexEntry): Promise<string | undefined> {
  const { resolved, gitTree } = entry;
  const fetcher = await fetcherOf(entry);
  const proved = await fetcher.prove?.({ ...context, isFullCheck: true }, entry);
  if (proved === "wrong") return "it does not lead there";
  if (proved === undefined || proved === "unknown") {
    return fetcher.isResolved?.(resolved) === true ? undefined : `it leads to "${resolved}"`;
  }
  const state = await checkTree(context.layout, gitTree, { limits: context.limits, native: proved, isFull: true });
  return state === "foreign" ? `tree ${gitTree}` : undefined;
}
