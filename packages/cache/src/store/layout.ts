import { randomBytes } from "node:crypto";
import { lstatSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  describeFolderError,
  folderProblem,
  formatIdentity,
  isPrivateFolder,
  makePrivateFolder,
  processIdentity,
  sha256,
} from "@steps/platform";
import { CacheError, isCacheError } from "../cache-error.ts";

/** The paths of the cache's folders. */
export interface Layout {
  readonly root: string;
  readonly trees: string;
  readonly blobs: string;
  readonly stores: string;
  readonly index: string;
  readonly leases: string;
  readonly locks: string;
  readonly tmp: string;
  readonly trash: string;
}

const FOLDERS = ["trees", "blobs", "git", "index", "leases", "locks", "tmp", "trash"] as const;

/**
 * Makes the cache's folder (mode 0700) and looks whether it may be trusted.
 *
 * @throws {CacheError} CACHE_UNSAFE when it belongs to someone else or others may write to it; CACHE_IO
 */
export function openLayout(root: string): Layout {
  const path = makeRoot(resolve(root));
  for (const folder of FOLDERS) {
    const inner = join(path, folder);
    if (isPrivateFolder(inner)) continue;
    try {
      makePrivateFolder(inner);
      checkOwned(inner);
      if (lstatSync(inner).isSymbolicLink())
        throw new CacheError("CACHE_UNSAFE", `Cannot use cache folder "${inner}": it is a link`);
    } catch (error) {
      if (isCacheError(error)) throw error;
      throw new CacheError("CACHE_IO", `Cannot make folder "${inner}": ${describeFolderError(error)}`, {
        cause: error,
        hint: HINT,
      });
    }
  }
  return {
    root: path,
    trees: join(path, "trees"),
    blobs: join(path, "blobs"),
    stores: join(path, "git"),
    index: join(path, "index"),
    leases: join(path, "leases"),
    locks: join(path, "locks"),
    tmp: join(path, "tmp"),
    trash: join(path, "trash"),
  };
}

const HINT = "Name another folder with --cache-dir or STEP_RUNNER_CACHE_DIR.";

function makeRoot(root: string): string {
  try {
    if (!isPrivateFolder(root)) {
      makePrivateFolder(root);
      checkOwned(root);
    }
    return realpathSync.native(root);
  } catch (error) {
    if (isCacheError(error)) throw error;
    throw new CacheError("CACHE_IO", `Cannot use cache folder "${root}": ${describeFolderError(error)}`, {
      cause: error,
      hint: HINT,
    });
  }
}

function checkOwned(path: string): void {
  const problem = folderProblem(path);
  if (problem === undefined) return;
  throw new CacheError("CACHE_UNSAFE", `Cannot use cache folder "${path}": ${problem}`, {
    hint: "Name a folder of your own with mode 0700.",
  });
}

/** A new name below `tmp` or `trash`; it tells which process made it. */
export function uniquePath(folder: string): string {
  return join(folder, `${formatIdentity(processIdentity())}.${randomBytes(8).toString("hex")}`);
}

export function treePath(layout: Layout, gitTree: string): string {
  return join(layout.trees, gitTree);
}

export function blobPath(layout: Layout, digest: string): string {
  return join(layout.blobs, digest.slice(0, 2), digest);
}

/** The object store of a repository: full history is kept apart, so that no store is ever both shallow and whole. */
export function storePath(layout: Layout, location: string, suffix: string): string {
  return join(layout.stores, `${sha256(location)}${suffix}.git`);
}
