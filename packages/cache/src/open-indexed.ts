import type { CacheContext } from "./context.ts";
import type { IndexEntry } from "./store/index-entry.ts";
import { readIndexEntry } from "./store/index-entry.ts";
import { treePath } from "./store/layout.ts";
import { checkTree, removePublishedTree } from "./store/tree-store.ts";

/** A tree that is here and intact, or why there is none. */
export type Opened = { readonly entry: IndexEntry; readonly dir: string } | { readonly note: string | undefined };

/**
 * Opens an indexed version: reads its entry, leases its tree, looks whether the tree is intact. A damaged tree is
 * thrown away. This is the way of every hit, so it does not wait for anything that it can do at once.
 */
export async function openIndexed(
  context: CacheContext,
  key: Pick<IndexEntry, "kind" | "location" | "version"> & { readonly entry?: IndexEntry },
  signal: AbortSignal | undefined,
): Promise<Opened> {
  const { layout, limits, isFullCheck } = context;
  const entry = key.entry ?? readIndexEntry(layout, key);
  if (entry === undefined) return { note: undefined };
  // Before the look: what is leased when it is seen intact is not collected afterwards.
  context.leases.hold(layout, entry.gitTree);
  const state = await checkTree(layout, entry.gitTree, { limits, isFull: isFullCheck, signal });
  if (state === "intact") return { entry, dir: treePath(layout, entry.gitTree) };
  if (state === "missing") return { note: undefined };
  await removePublishedTree(layout, entry.gitTree);
  return {
    note: `The cached files of tree ${entry.gitTree} had been changed; they were thrown away and fetched again.`,
  };
}
