import { chmod, lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "@steps/transfer";
import type { Layout } from "./layout.ts";
import { uniquePath } from "./layout.ts";

/** Removes a tree, read-only folders too. Missing is fine. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    await unlock(path);
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Moves something out of the way at once, so that nobody finds half of it, and then deletes it. */
export async function discard(layout: Layout, path: string): Promise<void> {
  const target = await moveToTrash(layout, path);
  if (target !== undefined) await removeTree(target);
}

/** Moves something to the trash and gives its place there; `undefined` when it is gone already. */
export async function moveToTrash(layout: Layout, path: string): Promise<string | undefined> {
  const target = uniquePath(layout.trash);
  try {
    const stat = await lstat(path);
    // A folder that its owner cannot write to cannot change its parent.
    if (stat.isDirectory()) await chmod(path, 0o700);
    await rename(path, target);
    return target;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function unlock(path: string): Promise<void> {
  const stat = await lstat(path);
  if (!stat.isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path)) await unlock(join(path, name));
}
