import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCode } from "../error.ts";
import type { OnNote } from "../options.ts";
import { type CacheEntry, createEntryReader, type EntryReader, versionPath } from "./cache-entry.ts";
import { discardEntry } from "./discard-entry.ts";
import { isPlainFolder } from "./files.ts";

interface Place {
  /** The folder of all entries. */
  readonly root: string;
  readonly scope: string;
  /** The folder that damaged entries are moved to before they are removed. */
  readonly trash: string;
  readonly onNote: OnNote;
}

/** The entries of one scope as they lie in a folder that others write to. What is damaged is removed as it is found. */
export class SavedEntries {
  readonly #place: Place;
  readonly #readEntry: EntryReader;

  constructor(place: Place) {
    this.#place = place;
    this.#readEntry = createEntryReader(place.root);
  }

  /** The entry at a path below the folder of entries, if there is one. */
  async read(relative: string): Promise<CacheEntry | undefined> {
    const { root, trash, onNote } = this.#place;
    const entry = await this.#readEntry(relative);
    if (entry !== "damaged") return entry;
    onNote("cache-damaged", `Ignored and removed a saved cache that is damaged: "${relative}"`);
    await discardEntry(join(root, relative), trash);
    return undefined;
  }

  /** All entries of a version, newest first. */
  async ofVersion(version: string): Promise<CacheEntry[]> {
    return (await this.#readAll(versionPath(this.#place.scope, version))).toSorted(byAge);
  }

  /** All entries of the scope, newest first. */
  async all(): Promise<CacheEntry[]> {
    const { root, scope } = this.#place;
    const scopeFolder = dirname(versionPath(scope, ""));
    const entries: CacheEntry[] = [];
    for (const name of await namesIn(join(root, scopeFolder))) {
      const folder = join(scopeFolder, name);
      await this.#clear(folder);
      entries.push(...(await this.#readAll(folder)));
    }
    return entries.toSorted(byAge);
  }

  /** Makes sure that the way to the entries of a version leads through plain folders. */
  async clearWay(version: string): Promise<void> {
    const folder = versionPath(this.#place.scope, version);
    await this.#clear(dirname(folder));
    await this.#clear(folder);
  }

  /** Removes a path that is neither a folder nor missing: a link would lead saves and lookups elsewhere. */
  async #clear(relative: string): Promise<void> {
    const { root, trash, onNote } = this.#place;
    const path = join(root, relative);
    if ((await isPlainFolder(path)) || !(await discardEntry(path, trash))) return;
    onNote("cache-damaged", `Removed what is no folder of saved caches: "${relative}"`);
  }

  async #readAll(folder: string): Promise<CacheEntry[]> {
    const names = await namesIn(join(this.#place.root, folder));
    const entries = await Promise.all(names.map((name) => this.read(join(folder, name))));
    return entries.filter((entry) => entry !== undefined);
  }
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
