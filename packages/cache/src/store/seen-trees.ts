import { hash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import type { FoundEntry } from "../tree/tree-hash.ts";

/**
 * The look of every tree that this process read in full: names, sizes and times. It is kept in memory alone: a step can write to every file of the
 * runner, whoever the file belongs to, so a record on the disk would prove nothing.
 */
const seen = new Map<string, string>();
const MAX_SEEN = 4096;

/** Within one tick of the file system's clock a file may change twice and show one time. */
const TICK_MS = 100;

/** Whether a tree looks exactly as it did when it was read. The change time cannot be set back by a step. */
export function looksAsSeen(key: string, dir: string, maxEntries: number): boolean {
  const known = seen.get(key);
  if (known === undefined) return false;
  try {
    const entries = lookAt(dir, maxEntries);
    return entries !== undefined && signatureOf(entries) === known;
  } catch {
    // A folder that became a file, or cannot be entered: odd enough for a full look.
    return false;
  }
}

/** Remembers how a tree looked before it was read in full and found to be right. */
export function rememberTree(key: string, entries: readonly FoundEntry[]): void {
  const newest = entries.reduce((latest, { stats }) => Math.max(latest, stats.ctimeMs), 0);
  if (newest > Date.now() - TICK_MS) return;
  if (seen.size >= MAX_SEEN) seen.clear();
  seen.set(key, signatureOf(entries));
}

function lookAt(dir: string, maxEntries: number): FoundEntry[] | undefined {
  const entries: FoundEntry[] = [{ path: "", stats: lstatSync(dir) }];
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of readdirSync(folder === "" ? dir : `${dir}/${folder}`)) {
      const path = folder === "" ? name : `${folder}/${name}`;
      const stats = lstatSync(`${dir}/${path}`);
      entries.push({ path, stats });
      if (entries.length > maxEntries) return undefined;
      if (stats.isDirectory()) folders.push(path);
    }
  }
  return entries;
}

function signatureOf(entries: readonly FoundEntry[]): string {
  const rows = entries.map(
    ({ path, stats: { mode, size, dev, ino, mtimeMs, ctimeMs } }) =>
      `${path}\0${mode} ${size} ${dev} ${ino} ${mtimeMs} ${ctimeMs}\0`,
  );
  // Each row begins with its path, which no other row has.
  return hash("sha256", rows.toSorted().join(""));
}
