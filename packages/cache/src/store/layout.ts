import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { sha256 } from "@steps/model";
import { asCacheError, CacheError, systemCode } from "../error.ts";
import { formatIdentity, processIdentity } from "./process-identity.ts";

/** Where things lie below the cache's root. */
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
    try {
      // Looked at first: on the way of every hit, a failing mkdir would cost more than all the rest.
      if (lstatSync(inner, { throwIfNoEntry: false }) === undefined) mkdirSync(inner, { mode: 0o700 });
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw asCacheError(error, `make folder "${inner}"`);
    }
    checkOwned(inner);
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

function makeRoot(root: string): string {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    const real = realpathSync(root);
    checkOwned(real);
    return real;
  } catch (error) {
    throw asCacheError(error, `make cache folder "${root}"`);
  }
}

function checkOwned(path: string): void {
  const stat = lstatSync(path);
  const problem = !stat.isDirectory()
    ? "it is not a folder"
    : process.geteuid !== undefined && stat.uid !== process.geteuid()
      ? `it belongs to user ${stat.uid}`
      : process.platform !== "win32" && (stat.mode & 0o022) !== 0
        ? `others may write to it (mode ${(stat.mode & 0o777).toString(8)})`
        : undefined;
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
