import { rename, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makePrivateFolder } from "@steps/platform";
import { systemCode } from "../error.ts";
import { conflict } from "../http/http-error.ts";
import type { OnNote } from "../options.ts";
import type { CacheEntry } from "./cache-entry.ts";
import { ARCHIVE, entryPath, formatMeta, META } from "./cache-entry.ts";
import { evict } from "./evict.ts";
import { openPrivateFolder, removeAll } from "./files.ts";
import { SavedEntries } from "./saved-entries.ts";
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
  const entries = new SavedEntries({ root, scope, trash: work.path, onNote });
  return {
    has: async (key, version) => {
      await entries.clearWay(version);
      return (await entries.read(entryPath(scope, version, key))) !== undefined;
    },
    find: async (keys, version) => {
      await entries.clearWay(version);
      let all: CacheEntry[] | undefined;
      for (const key of keys) {
        const exact = await entries.read(entryPath(scope, version, key));
        if (exact === undefined) all ??= await entries.ofVersion(version);
        const found = exact ?? all?.find((entry) => startsWith(entry.key, key));
        if (found === undefined) continue;
        await touch(found);
        return found;
      }
      return undefined;
    },
    list: async (keyPrefix) => (await entries.all()).filter((entry) => startsWith(entry.key, keyPrefix)),
    publish: async ({ key, version }, file) => {
      await entries.clearWay(version);
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

function startsWith(key: string, prefix: string): boolean {
  return key.toLowerCase().startsWith(prefix.toLowerCase());
}

let lastTime = 0;

/** Grows with every call, also within one millisecond and when the clock is set back. */
function nextTime(): number {
  lastTime = Math.max(Date.now(), lastTime + 0.001);
  return lastTime;
}
