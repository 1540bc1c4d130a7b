import { chmodSync, constants, copyFileSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { CacheError } from "./error.ts";
import type { Layout } from "./store/layout.ts";
import { treePath } from "./store/layout.ts";
import { manifestPaths } from "./store/manifest.ts";

const FILES_AT_ONCE = 16;
const TYPE_MASK = 0o170000;

/**
 * Copies a tree that was just seen intact to a folder of the job's own, where files may be changed. Blocks are shared
 * where the file system can; hard links never, because a change would reach the cache.
 */
export async function copyTree(layout: Layout, gitTree: string, target: string): Promise<void> {
  const from = treePath(layout, gitTree);
  makeEmpty(target);
  const paths = manifestPaths(layout, gitTree);
  if (paths === undefined) throw new CacheError("CACHE_IO", `Cannot copy tree "${gitTree}": it is gone`);
  const isType = (mode: number, type: number): boolean => (mode & TYPE_MASK) === type;
  for (const { path, mode } of paths.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (path !== "" && isType(mode, 0o040000)) mkdirSync(join(target, path), { mode: 0o755 });
  }
  let copied = 0;
  for (const { path, mode } of paths) {
    if (!isType(mode, 0o100000)) continue;
    const to = join(target, path);
    copyFileSync(join(from, path), to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    chmodSync(to, (mode & 0o100) === 0 ? 0o644 : 0o755);
    copied += 1;
    // A trip through the pool of threads costs several times what a small file does; nobody else is held up for long.
    if (copied % FILES_AT_ONCE === 0) await setImmediate();
  }
  for (const { path, mode } of paths) {
    if (isType(mode, 0o120000)) symlinkSync(readlinkSync(join(from, path)), join(target, path));
  }
}

function makeEmpty(target: string): void {
  mkdirSync(target, { recursive: true, mode: 0o755 });
  if (readdirSync(target).length === 0) return;
  throw new CacheError("CACHE_IO", `Cannot copy component to "${target}": the folder is not empty`);
}
