import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../error.ts";
import type { OnNote } from "../options.ts";
import { ARCHIVE, META } from "./cache-entry.ts";
import { discardEntry } from "./discard-entry.ts";

interface Candidate {
  readonly dir: string;
  readonly size: number;
  readonly usedAtMs: number;
}

/** Removes what was not used for the longest, of any scope, until the rest is no more than `maxBytes`. */
export async function evict(
  root: string,
  options: { readonly maxBytes: number; readonly trash: string; readonly onNote: OnNote },
): Promise<void> {
  const candidates = (await listEntries(root)).toSorted((left, right) => left.usedAtMs - right.usedAtMs);
  let total = candidates.reduce((sum, { size }) => sum + size, 0);
  for (const { dir, size } of candidates) {
    if (total <= options.maxBytes) return;
    const isOurs = await discardEntry(dir, options.trash);
    total -= size;
    // When another process evicts at the same time, only one of the two reports it.
    if (isOurs) options.onNote("cache-evicted", `Removed a saved cache of ${size} bytes to make room`);
  }
}

async function listEntries(root: string): Promise<Candidate[]> {
  const entries: Candidate[] = [];
  for (const scope of await foldersIn(root)) {
    for (const version of await foldersIn(join(root, scope))) {
      const folder = join(root, scope, version);
      const found = await Promise.all((await foldersIn(folder)).map((name) => candidateOf(join(folder, name))));
      entries.push(...found);
    }
  }
  return entries;
}

/** A damaged entry counts as never used, because it would stay for ever otherwise. */
async function candidateOf(dir: string): Promise<Candidate> {
  const sizeOf = lstat(join(dir, ARCHIVE)).then(({ size }) => size);
  const timeOf = lstat(join(dir, META)).then(({ mtimeMs }) => mtimeMs);
  const [size, usedAtMs] = await Promise.all([sizeOf, timeOf].map(async (value) => await value.catch(() => 0)));
  return { dir, size: size ?? 0, usedAtMs: usedAtMs ?? 0 };
}

async function foldersIn(dir: string): Promise<string[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}
