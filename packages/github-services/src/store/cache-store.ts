import { readdir, rename, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makePrivateFolder } from "@steps/platform";
import { systemCode } from "../error.ts";
import { conflict } from "../http/http-error.ts";
import type { OnNote } from "../options.ts";
import type { CacheEntry } from "./cache-entry.ts";
import { ARCHIVE, createEntryReader, entryPath, formatMeta, META, versionPath } from "./cache-entry.ts";
import { discardEntry } from "./discard-entry.ts";
import { evict } from "./evict.ts";
import { isPlainFolder, openPrivateFolder, removeAll } from "./files.ts";
import type { SealedFile } from "./upload.ts";
import type { WorkFolder } from "./work-folder.ts";

const MAX_ATTEMPTS = 10;

/** Saved caches in a folder that several processes share: published by one rename, never changed, evicted by another. */
export interface CacheStore {
  /** Finds, for each key in turn, the cache of exactly that key, or otherwise the newest whose key starts with it. */
  readonly find: (keys: readonly string[], version: string) => Promise<CacheEntry | undefined>;
  readonly has: (key: string, version: string) => Promise<boolean>;
  /** Caches of any version whose key starts with a text, newest first. */
  readonly list: (keyPrefix: string) => Promise<readonly CacheEntry[]>;
  /** Makes a finished file the cache of a key; 409 when somebody was faster. Takes the file. */
  readonly publish: (of: { readonly key: string; readonly version: string }, file: SealedFile) => Promise<CacheEntry>;
}

/** Opens the caches of one scope. */
export async function openCacheStore(options: {
  readonly dir: string;
  readonly scope: string;
  readonly work: WorkFolder;
  readonly maxBytes: number;
  readonly onNote: OnNote;
}): Promise<CacheStore> {
  const { scope, work, onNote } = options;
  const root = join(options.dir, "entries");
  await openPrivateFolder(root);

  const readEntry = createEntryReader(root);
  const read = async (relative: string): Promise<CacheEntry | undefined> => {
    const entry = await readEntry(relative);
    if (entry !== "damaged") return entry;
    onNote("cache-damaged", `Ignored and removed a saved cache that is damaged: "${relative}"`);
    await discardEntry(join(root, relative), work.path);
    return undefined;
  };
  /** Removes a path that is neither a folder nor missing: a link would lead saves and lookups elsewhere. */
  const clear = async (relative: string): Promise<void> => {
    const path = join(root, relative);
    if ((await isPlainFolder(path)) || !(await discardEntry(path, work.path))) return;
    onNote("cache-damaged", `Removed what is no folder of saved caches: "${relative}"`);
  };
  const clearWay = async (version: string): Promise<void> => {
    await clear(dirname(versionPath(scope, version)));
    await clear(versionPath(scope, version));
  };
  const readAll = async (version: string): Promise<CacheEntry[]> => {
    const names = await namesIn(join(root, versionPath(scope, version)));
    const entries = await Promise.all(names.map((name) => read(join(versionPath(scope, version), name))));
    return entries.filter((entry) => entry !== undefined).toSorted(byAge);
  };
  return {
    has: async (key, version) => {
      await clearWay(version);
      return (await read(entryPath(scope, version, key))) !== undefined;
    },
    find: async (keys, version) => {
      await clearWay(version);
      let all: CacheEntry[] | undefined;
      for (const key of keys) {
        const exact = await read(entryPath(scope, version, key));
        if (exact === undefined) all ??= await readAll(version);
        const found = exact ?? all?.find((entry) => startsWith(entry.key, key));
        if (found === undefined) continue;
        await touch(found);
        return found;
      }
      return undefined;
    },
    list: async (keyPrefix) => {
      const entries: CacheEntry[] = [];
      for (const name of await namesIn(join(root, dirname(versionPath(scope, ""))))) {
        const folder = join(dirname(versionPath(scope, "")), name);
        await clear(folder);
        const found = await Promise.all((await namesIn(join(root, folder))).map((key) => read(join(folder, key))));
        const there = found.filter((entry) => entry !== undefined);
        entries.push(...there.filter((entry) => startsWith(entry.key, keyPrefix)));
      }
      return entries.toSorted(byAge);
    },
    publish: async ({ key, version }, file) => {
      await clearWay(version);
      const dir = join(root, entryPath(scope, version, key));
      const entry: CacheEntry = { key, version, scope, size: file.size, createdAtMs: nextTime(), dir };
      const staged = await work.makeDir();
      await rename(file.path, join(staged, ARCHIVE));
      await writeFile(join(staged, META), formatMeta(entry), { mode: 0o600, flag: "wx" });
      await moveInto(staged, dir).catch(async (error: unknown) => {
        await removeAll(staged);
        throw error;
      });
      await evict(root, { maxBytes: options.maxBytes, trash: work.path, onNote });
      return entry;
    },
  };
}

/** Renames a folder to a place where none is: the first of several processes wins, and only one does. */
async function moveInto(staged: string, dir: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      makePrivateFolder(dirname(dir));
      await rename(staged, dir);
      return;
    } catch (error) {
      const code = systemCode(error) ?? "";
      if (["ENOTEMPTY", "EEXIST", "EPERM", "ENOTDIR"].includes(code)) {
        throw conflict("cache entry with the same key, version, and scope already exists");
      }
      // The folder above was empty, and somebody tidied it away.
      if (code !== "ENOENT" || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Notes that a cache was used, which keeps it from eviction. */
async function touch(entry: CacheEntry): Promise<void> {
  const now = new Date();
  // It may just have been evicted; the download will say so.
  await utimes(join(entry.dir, META), now, now).catch(() => undefined);
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

function byAge(left: CacheEntry, right: CacheEntry): number {
  return right.createdAtMs - left.createdAtMs;
}

function startsWith(key: string, prefix: string): boolean {
  return key.toLowerCase().startsWith(prefix.toLowerCase());
}

let lastTime = 0;

/** Grows with every call, also within one millisecond and when the clock is set back. */
function nextTime(): number {
  lastTime = Math.max(Date.now(), lastTime + 0.001);
  return lastTime;
}
