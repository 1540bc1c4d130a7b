import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "@steps/model";
import { isPlainFolder, openPlainFile } from "./files.ts";

/** What was saved under a key and a version in a scope. */
export interface CacheEntry {
  readonly key: string;
  readonly version: string;
  readonly scope: string;
  readonly size: number;
  /** Milliseconds since 1970, with a fraction so that two saves of one moment keep their order. */
  readonly createdAtMs: number;
  /** Folder with `meta.json` and `archive`. */
  readonly dir: string;
}

export const META = "meta.json";
export const ARCHIVE = "archive";
const MAX_META_BYTES = 16 * 1024;

/** Where a cache lies below the folder of entries. Keys are found whatever their case, as GitHub finds them. */
export function entryPath(scope: string, version: string, key: string): string {
  return join(versionPath(scope, version), sha256(key.toLowerCase()));
}

/** The folder of all keys of a version in a scope. */
export function versionPath(scope: string, version: string): string {
  return join(sha256(scope), sha256(version));
}

/** Reads an entry; undefined when there is none, `damaged` when what is there is not one. Follows no link. */
export async function readEntry(root: string, relative: string): Promise<CacheEntry | "damaged" | undefined> {
  const dir = join(root, relative);
  if (!(await isPlainFolder(dir))) return (await isThere(dir)) ? "damaged" : undefined;
  const file = await openPlainFile(join(dir, META));
  // It may have been removed since, which is no damage.
  if (file === undefined) return (await isThere(dir)) ? "damaged" : undefined;
  try {
    if (file.size > MAX_META_BYTES) return "damaged";
    const meta = parseMeta((await file.handle.readFile()).toString("utf8"));
    if (meta === undefined || entryPath(meta.scope, meta.version, meta.key) !== relative) return "damaged";
    return { ...meta, dir };
  } finally {
    await file.handle.close();
  }
}

/** What `meta.json` holds. */
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
  } catch (cause) {
    void cause;
    return undefined;
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}
