import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "@steps/platform";
import { systemCode } from "../error.ts";
import { openPlainFile } from "./files.ts";

/** A cache that was saved under a key and a version in a scope. */
export interface CacheEntry {
  readonly key: string;
  readonly version: string;
  readonly scope: string;
  readonly size: number;
  /**
   * The time of the save in milliseconds since 1970, with a fraction so that two saves of one moment keep their order.
   */
  readonly createdAtMs: number;
  /** Folder with `meta.json` and `archive`. */
  readonly dir: string;
}

export const META = "meta.json";
export const ARCHIVE = "archive";
const MAX_META_BYTES = 16 * 1024;
const MAX_KNOWN = 10_000;

/**
 * Returns the path of a cache below the folder of entries. Keys are found whatever their case, as GitHub finds them.
 */
export function entryPath(scope: string, version: string, key: string): string {
  return join(versionPath(scope, version), sha256(key.toLowerCase()));
}

/** The folder of all keys of a version in a scope. */
export function versionPath(scope: string, version: string): string {
  return join(sha256(scope), sha256(version));
}

/** Reads entries of a root, of which it remembers what cannot have changed. */
export type EntryReader = (relative: string) => Promise<CacheEntry | "damaged" | undefined>;

/** A reader: undefined when there is no entry, `damaged` when what is there is not one. Follows no link. */
export function createEntryReader(root: string): EntryReader {
  const known = new Map<string, { readonly entry: CacheEntry; readonly stamp: string }>();
  return async (relative) => {
    const before = known.get(relative);
    if (before !== undefined && before.stamp === (await stampOf(before.entry.dir))) return before.entry;
    known.delete(relative);
    const found = await readEntry(root, relative);
    if (found === undefined || found === "damaged") return found;
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(relative, found);
    return found.entry;
  };
}

/**
 * Returns a text that distinguishes an entry from another in its place; undefined if there is none. Using an entry
 * changes only the time of `meta.json`.
 */
async function stampOf(dir: string): Promise<string | undefined> {
  const [archive, meta] = await Promise.all([statsOf(join(dir, ARCHIVE)), statsOf(join(dir, META))]);
  if (archive?.isFile() !== true || meta?.isFile() !== true) return undefined;
  return [archive.dev, archive.ino, archive.size, archive.mtimeMs, meta.ino, meta.size].join(" ");
}

async function readEntry(
  root: string,
  relative: string,
): Promise<{ readonly entry: CacheEntry; readonly stamp: string } | "damaged" | undefined> {
  const dir = join(root, relative);
  const kind = await statsOf(dir);
  if (kind?.isDirectory() !== true) return kind === undefined ? undefined : "damaged";
  const file = await openPlainFile(join(dir, META));
  // It may have been removed since, which is no damage.
  if (file === undefined) return await goneOrDamaged(dir);
  try {
    if (file.size > MAX_META_BYTES) return "damaged";
    const meta = parseMeta((await file.handle.readFile()).toString("utf8"));
    if (meta === undefined || entryPath(meta.scope, meta.version, meta.key) !== relative) return "damaged";
    const [archive, stamp] = await Promise.all([statsOf(join(dir, ARCHIVE)), stampOf(dir)]);
    if (stamp === undefined || archive?.size !== meta.size) return await goneOrDamaged(dir);
    return { entry: { ...meta, dir }, stamp };
  } finally {
    await file.handle.close();
  }
}

async function goneOrDamaged(dir: string): Promise<"damaged" | undefined> {
  return (await statsOf(dir)) === undefined ? undefined : "damaged";
}

/** Formats the contents of `meta.json`. */
export function formatMeta(entry: Omit<CacheEntry, "dir">): string {
  const { key, version, scope, size, createdAtMs } = entry;
  return JSON.stringify({ key, version, scope, size, createdAtMs });
}

function parseMeta(text: string): Omit<CacheEntry, "dir"> | undefined {
  try {
    const { key, version, scope, size, createdAtMs } = JSON.parse(text) as Record<string, unknown>;
    if (typeof key !== "string" || typeof version !== "string" || typeof scope !== "string") return undefined;
    if (!Number.isSafeInteger(size) || typeof createdAtMs !== "number") return undefined;
    return { key, version, scope, size: size as number, createdAtMs };
  } catch {
    return undefined;
  }
}

async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}
