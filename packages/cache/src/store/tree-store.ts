import { chmod, lstat, rename } from "node:fs/promises";
import { type Limits, systemCode } from "@steps/transfer";
import type { FolderHash, NativeForm } from "../tree/tree-hash.ts";
import { hashFolder } from "../tree/tree-hash.ts";
import { syncFolder } from "../tree/tree-writer.ts";
import type { Layout } from "./layout.ts";
import { treePath, uniquePath } from "./layout.ts";
import { discard, removeTree } from "./remove.ts";
import { looksAsSeen, rememberTree } from "./seen-trees.ts";

/** `damaged`: it is not what its name says. `foreign`: it is, and not what was asked for. */
export type TreeState = "intact" | "missing" | "damaged" | "foreign";

/**
 * The id that a tree has at its origin, in the form that computes it. A tree has to have it besides the digest in its
 * name.
 */
export interface NativeTree extends NativeForm {
  readonly id: string;
}

interface CheckOptions {
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
  readonly native?: NativeTree | undefined;
}

/**
 * Moves a finished tree to its place, which is its digest. Whoever comes second finds it there and drops its own if the
 * other is the same.
 */
export async function publishTree(
  layout: Layout,
  staging: string,
  options: CheckOptions & { readonly gitTree: string },
): Promise<void> {
  const target = treePath(layout, options.gitTree);
  if (!(await moveTo(target, staging))) {
    const state = await checkTree(layout, options.gitTree, { ...options, isFull: true });
    if (state === "intact") return await removeTree(staging);
    await removePublishedTree(layout, options.gitTree);
    // Another one that was as fast left the same.
    if (!(await moveTo(target, staging))) return await removeTree(staging);
  }
  // Only now: a folder that its owner cannot write to cannot be moved.
  await chmod(target, 0o555);
  await syncFolder(layout.trees);
}

/** Renames a tree; `false` when something is in its place. */
async function moveTo(target: string, staging: string): Promise<boolean> {
  try {
    await rename(staging, target);
    return true;
  } catch (error) {
    if (["EEXIST", "ENOTEMPTY", "ENOTDIR"].includes(systemCode(error) ?? "")) return false;
    throw error;
  }
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
 * Looks whether a tree is what its name says, and what it has to be: it is read in full, unless this process did so
 * before and nothing about it looks different since.
 */
export async function checkTree(
  layout: Layout,
  gitTree: string,
  options: CheckOptions & { readonly isFull?: boolean },
): Promise<TreeState> {
  const { native } = options;
  const dir = treePath(layout, gitTree);
  const key = native === undefined ? dir : `${dir}\0${native.id}`;
  if (options.isFull !== true && looksAsSeen(key, dir, maxEntriesOf(options.limits))) return "intact";
  const found = await readTree(layout, gitTree, options);
  if (found === undefined) return "missing";
  if ("problem" in found || found.gitTree !== gitTree) return "damaged";
  if (native !== undefined && found.nativeTree !== native.id) return "foreign";
  rememberTree(dir, found.entries);
  rememberTree(key, found.entries);
  return "intact";
}

/** Reads a tree in full; `undefined` when it is not there. */
export async function readTree(
  layout: Layout,
  gitTree: string,
  options: CheckOptions & { readonly copyTo?: string },
): Promise<FolderHash | undefined> {
  const dir = treePath(layout, gitTree);
  try {
    if (!(await lstat(dir)).isDirectory()) return { problem: "it is not a folder" };
    return await hashFolder(dir, {
      maxEntries: maxEntriesOf(options.limits),
      maxTotalBytes: options.limits.maxTotalBytes,
      signal: options.signal,
      native: options.native,
      copyTo: options.copyTo,
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
  await discard(layout, treePath(layout, gitTree));
}

// A tree of ours has at most this many; more is damage, and is not read to its end. Empty folders count here only.
function maxEntriesOf(limits: Limits): number {
  return limits.maxEntries * 2 + 1;
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
