import type { Resource } from "@steps/model/event";
import type { CacheContext } from "./context.ts";
import type { IndexEntry } from "./store/index-entry.ts";
import { readIndexEntry, removeIndexEntry } from "./store/index-entry.ts";
import { treePath } from "./store/layout.ts";
import type { NativeTree } from "./store/tree-store.ts";
import { checkTree, removePublishedTree } from "./store/tree-store.ts";

/** A tree that is here and intact, or why there is none. */
export type Opened =
  | { readonly entry: IndexEntry; readonly dir: string; readonly native: NativeTree | undefined }
  | { readonly note: string | undefined };

/**
 * The tree that a version leads to, computed from the version itself: `wrong` when the entry says something else,
 * `unknown` when the data to compute it from is not here.
 */
export type Proved = NativeTree | "wrong" | "unknown";

/** The digest of the archive or image to prove, and the pin, which makes a proof unnecessary. */
export interface ProveOptions {
  readonly sha256: string;
  readonly pin?: Resource | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The entry to look for in the index. */
export interface Sought {
  readonly key: Pick<IndexEntry, "kind" | "location" | "version">;
  /** The tree that a trace or a lock names: with it, nothing else has to be proved. */
  readonly pin?: Resource | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The entry, if it was just written and need not be read. */
  readonly entry?: IndexEntry;
  readonly prove: (entry: IndexEntry) => Proved | Promise<Proved>;
}

/**
 * Opens an indexed version: reads its entry, leases its tree, proves that the version leads to this tree and that the tree
 * is intact. What is damaged is thrown away. This is the way of every hit.
 */
export async function openIndexed(context: CacheContext, sought: Sought): Promise<Opened> {
  const { layout, limits, isFullCheck } = context;
  const entry = sought.entry ?? readIndexEntry(layout, sought.key);
  if (entry === undefined) return { note: undefined };
  const proved = await sought.prove(entry);
  if (proved === "wrong") return await dropEntry(context, entry);
  if (proved === "unknown" && sought.pin?.digest["gitTree"] !== entry.gitTree) return { note: undefined };
  const native = proved === "unknown" ? undefined : proved;
  // The lease comes before the check, so that a tree that was seen intact is not collected afterwards.
  context.leases.hold(layout, entry.gitTree);
  const state = await checkTree(layout, entry.gitTree, {
    limits,
    isFull: isFullCheck,
    signal: sought.signal,
    native,
  });
  if (state === "intact") return { entry, dir: treePath(layout, entry.gitTree), native };
  if (state === "missing") return { note: undefined };
  if (state === "foreign") return await dropEntry(context, entry);
  await removePublishedTree(layout, entry.gitTree);
  await removeIndexEntry(layout, entry);
  return {
    note: `The cached files of tree ${entry.gitTree} had been changed; they were thrown away and fetched again.`,
  };
}

async function dropEntry({ layout }: CacheContext, entry: IndexEntry): Promise<Opened> {
  await removeIndexEntry(layout, entry);
  return { note: `What the cache knew of "${entry.location}" had been changed; it was fetched again.` };
}
