import { constants } from "node:fs";
import { copyFile, chmod, mkdir, readdir, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";
import { CacheError } from "./error.ts";
import type { Layout } from "./store/layout.ts";
import { treePath } from "./store/layout.ts";
import { manifestPaths } from "./store/manifest.ts";

const PARALLEL_COPIES = 8;
const TYPE_MASK = 0o170000;

/**
 * Copies a tree that was just seen intact to a folder of the job's own, where files may be changed. Blocks are shared
 * where the file system can; hard links never, because a change would reach the cache.
 */
export async function copyTree(layout: Layout, gitTree: string, target: string): Promise<void> {
  const from = treePath(layout, gitTree);
  await makeEmpty(target);
  const paths = manifestPaths(layout, gitTree);
  if (paths === undefined) throw new CacheError("CACHE_IO", `Cannot copy tree "${gitTree}": it is gone`);
  const isType = (mode: number, type: number): boolean => (mode & TYPE_MASK) === type;
  for (const { path, mode } of paths.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (path !== "" && isType(mode, 0o040000)) await mkdir(join(target, path), { mode: 0o755 });
  }
  const files = paths.filter(({ mode }) => isType(mode, 0o100000));
  const copyNext = async (): Promise<void> => {
    for (let file = files.pop(); file !== undefined; file = files.pop()) {
      const to = join(target, file.path);
      await copyFile(join(from, file.path), to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      await chmod(to, (file.mode & 0o100) === 0 ? 0o644 : 0o755);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_COPIES }, copyNext));
  for (const { path, mode } of paths) {
    if (isType(mode, 0o120000)) await symlink(await readlink(join(from, path)), join(target, path));
  }
}

async function makeEmpty(target: string): Promise<void> {
  await mkdir(target, { recursive: true, mode: 0o755 });
  if ((await readdir(target)).length === 0) return;
  throw new CacheError("CACHE_IO", `Cannot copy component to "${target}": the folder is not empty`);
}
