import type { StoredKindName } from "@steps/model/kinds";
import type { CacheContext } from "./context.ts";
import type { Proved } from "./open-indexed.ts";
import type { NativeTree } from "./store/tree-store.ts";
import type { WrittenTree } from "./tree/tree-writer.ts";

interface Fact {
  readonly gitTree: string;
  readonly native: NativeTree;
}

/**
 * The trees that archives and images unpack to, computed by this process. A digest leads to one tree for ever, so the
 * disk need not be read again; the facts are kept in memory because a step could rewrite them anywhere else.
 */
const facts = new Map<string, Fact>();
const MAX_FACTS = 4096;

/** The form of trees that have no id of their own: git's in SHA-256, in which empty folders count. */
export function nativeOf({ gitTree, nativeTree }: WrittenTree): Fact & NativeTree {
  const native: NativeTree = { id: nativeTree ?? gitTree, algorithm: "sha256", unusual: new Map() };
  return { ...native, gitTree, native };
}

/** Remembers what a digest leads to. */
export function rememberFact(kind: StoredKindName, id: string, { gitTree, native }: Fact): void {
  if (facts.size >= MAX_FACTS) facts.clear();
  facts.set(`${kind}\0${id}`, { gitTree, native });
}

/**
 * Proves that a digest leads to a tree by what this process knows, or by unpacking it without writing anything; `unpack`
 * gives `undefined` when it is not here.
 */
export async function proveFact(
  { isFullCheck }: CacheContext,
  { kind, id, gitTree }: { readonly kind: StoredKindName; readonly id: string; readonly gitTree: string },
  unpack: () => Promise<WrittenTree | undefined>,
): Promise<Proved> {
  const known = isFullCheck ? undefined : facts.get(`${kind}\0${id}`);
  const unpacked = known === undefined ? await unpack() : undefined;
  const fact = known ?? (unpacked && nativeOf(unpacked));
  if (fact === undefined) return "unknown";
  rememberFact(kind, id, fact);
  return fact.gitTree === gitTree ? fact.native : "wrong";
}
