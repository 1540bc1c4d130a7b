import { chmod, lstat, rename } from "node:fs/promises";
import { systemCode } from "../error.ts";
import type { Limits } from "../limits.ts";
import type { FolderHash } from "../tree/tree-hash.ts";
import { hashFolder } from "../tree/tree-hash.ts";
import type { WrittenTree } from "../tree/tree-writer.ts";
import { syncFolder } from "../tree/tree-writer.ts";
import type { Layout } from "./layout.ts";
import { treePath, uniquePath } from "./layout.ts";
import { matchesManifest, removeManifest, writeManifest } from "./manifest.ts";
import { discard, removeTree } from "./remove.ts";

export type TreeState = "intact" | "missing" | "damaged";

/**
 * Moves a finished tree to its place, which is its digest. Whoever comes second finds it there and drops its own:
 * the content is the same.
 */
export async function publishTree(layout: Layout, staging: string, tree: WrittenTree): Promise<string> {
  const target = treePath(layout, tree.gitTree);
  try {
    await rename(staging, target);
  } catch (error) {
    if (systemCode(error) !== "EEXIST" && systemCode(error) !== "ENOTEMPTY") throw error;
    await removeTree(staging);
    return target;
  }
  // Only now: a folder that its owner cannot write to cannot be moved.
  await chmod(target, 0o555);
  await syncFolder(layout.trees);
  return target;
}

/** Builds a tree at a temporary place and removes what is left of it if that fails. */
export async function withStaging<T>(layout: Layout, build: (staging: string) => Promise<T>): Promise<T> {
  const staging = uniquePath(layout.tmp);
  try {
    return await build(staging);
  } catch (error) {
    await removeTree(staging);
    throw error;
  }
}

/**
 * Looks whether a tree is what its name says: by its manifest, or read in full when asked for, when there is no
 * manifest, or when anything looks odd.
 */
export async function checkTree(
  layout: Layout,
  gitTree: string,
  options: { readonly limits: Limits; readonly isFull?: boolean; readonly signal?: AbortSignal | undefined },
): Promise<TreeState> {
  if (options.isFull !== true && matchesManifest(layout, gitTree)) return "intact";
  const found = await readTree(layout, gitTree, options);
  if (found === undefined) return "missing";
  if ("problem" in found || found.gitTree !== gitTree) return "damaged";
  await writeManifest(layout, gitTree, found.entries);
  return "intact";
}

/** Reads a tree in full; `undefined` when it is not there. */
export async function readTree(
  layout: Layout,
  gitTree: string,
  options: { readonly limits: Limits; readonly signal?: AbortSignal | undefined },
): Promise<FolderHash | undefined> {
  const dir = treePath(layout, gitTree);
  try {
    if (!(await lstat(dir)).isDirectory()) return { problem: "it is not a folder" };
    // A tree of ours has at most this many; more is damage, and is not read to its end. Empty folders count here only.
    return await hashFolder(dir, {
      maxEntries: options.limits.maxEntries * 2 + 1,
      maxTotalBytes: options.limits.maxTotalBytes,
      signal: options.signal,
    });
  } catch (error) {
    if (systemCode(error) === "ENOENT")
      return (await exists(dir)) ? { problem: "it changed while it was read" } : undefined;
    if (systemCode(error) === "EACCES") return { problem: "it cannot be read" };
    throw error;
  }
}

/** Takes a tree out of use at once and deletes it. */
export async function removePublishedTree(layout: Layout, gitTree: string): Promise<void> {
  await removeManifest(layout, gitTree);
  await discard(layout, treePath(layout, gitTree));
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
