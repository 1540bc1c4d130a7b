import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isExpired } from "./expiry.ts";
import { entriesOf, openEntry, removeEntry } from "../store/entry-store.ts";

/** The limits that stores are held to. */
export interface CollectStoresOptions {
  /** The bytes of all entries together. */
  readonly maxBytes: number;
  /** The time since an entry was written or used, in milliseconds. */
  readonly maxAgeMs: number;
}

/** The outcome of `collectStores()`, in entries and bytes. */
export interface CollectedStores {
  readonly removed: number;
  readonly removedBytes: number;
  readonly keptBytes: number;
}

/**
 * Removes entries of stores: artifacts whose time is over, what was not used for too long, and then the least recently used until
 * the others are small enough.
 *
 * @param stores - Folders of artifacts or of caches: absolute. Those that are not there are passed over.
 */
export async function collectStores(
  stores: readonly string[],
  { maxBytes, maxAgeMs }: CollectStoresOptions,
): Promise<CollectedStores> {
  const now = Date.now();
  const entries = stores
    .flatMap(entriesOf)
    .flatMap((path) => {
      const entry = openEntry(path);
      if (entry === undefined) return [];
      const usedMs = lstatSync(entry.dir, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      return [{ path, usedMs, bytes: sizeOf(entry.dir), isOver: isExpired(entry.metadata) || now - usedMs > maxAgeMs }];
    })
    .toSorted((a, b) => b.usedMs - a.usedMs);
  let [keptBytes, removed, removedBytes] = [0, 0, 0];
  for (const { path, bytes, isOver } of entries) {
    if (!isOver && keptBytes + bytes <= maxBytes) keptBytes += bytes;
    else if (await removeEntry(path)) [removed, removedBytes] = [removed + 1, removedBytes + bytes];
  }
  return { removed, removedBytes, keptBytes };
}

function sizeOf(dir: string): number {
  let bytes = 0;
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += lstatSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}
