import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { CacheError } from "./cache-error.ts";
import type { CacheContext } from "./context.ts";
import { readTree } from "./store/tree-store.ts";
import { removeTree } from "./store/remove.ts";

/**
 * Copies a tree to a folder of the job's own, where files may be changed, and digests what it copies: what the job gets is
 * what the digest names, whatever happens to the cache meanwhile. Gives whether it is; if not, nothing is left of it.
 */
export async function copyTree({ layout, limits }: CacheContext, gitTree: string, target: string): Promise<boolean> {
  makeEmpty(target);
  const copied = await readTree(layout, gitTree, { limits, copyTo: target });
  if (copied !== undefined && !("problem" in copied) && copied.gitTree === gitTree) return true;
  await removeTree(target);
  return false;
}

function makeEmpty(target: string): void {
  mkdirSync(target, { recursive: true, mode: 0o755 });
  chmodSync(target, 0o755);
  if (readdirSync(target).length === 0) return;
  throw new CacheError("CACHE_IO", `Cannot copy component to "${target}": the folder is not empty`);
}
