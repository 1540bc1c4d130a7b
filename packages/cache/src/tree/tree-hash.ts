import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { createReadStream } from "node:fs";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { TreeEntry } from "@steps/model";
import { gitBlobDigest, gitTreeDigest } from "@steps/model";
import { throwIfCancelled } from "../error.ts";

/** One thing that lies in a folder. */
export interface FoundEntry {
  /** Relative to the folder; empty for the folder itself. */
  readonly path: string;
  readonly stats: Stats;
}

export interface HashOptions {
  readonly maxEntries: number;
  readonly maxTotalBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Absolute paths to leave out. */
  readonly excluded?: ReadonlySet<string> | undefined;
  /** Leaves out everything named `.git`. */
  readonly isGitSkipped?: boolean;
  /** A digest known from before for a file that looks the same. */
  readonly remembered?: (path: string, stats: Stats) => string | undefined;
  readonly onFile?: (path: string, stats: Stats, digest: string) => void;
}

/** What a folder holds, or why that cannot be said. */
export type FolderHash =
  | { readonly gitTree: string; readonly bytes: number; readonly entries: readonly FoundEntry[] }
  | { readonly problem: string };

const WHOLE_READ_BYTES = 1024 * 1024;
const PARALLEL_READS = 16;

/** A folder that has no digest; found somewhere deep below. */
class Undigestible extends Error {}

/**
 * Computes git's id of a folder as it lies on the disk, in SHA-256. Links are taken as links; empty folders do not
 * count; sockets, devices and pipes make it a problem.
 */
export async function hashFolder(dir: string, options: HashOptions): Promise<FolderHash> {
  const walk: Walk = { dir, options, entries: [], bytes: 0 };
  try {
    walk.entries.push({ path: "", stats: await lstat(dir) });
    const gitTree = (await hashLevel(walk, "")) ?? gitTreeDigest([]);
    return { gitTree, bytes: walk.bytes, entries: walk.entries };
  } catch (error) {
    if (error instanceof Undigestible) return { problem: error.message };
    throw error;
  }
}

interface Walk {
  readonly dir: string;
  readonly options: HashOptions;
  readonly entries: FoundEntry[];
  bytes: number;
}

async function hashLevel(walk: Walk, folder: string): Promise<string | undefined> {
  const { excluded, isGitSkipped } = walk.options;
  const names = (await readdir(join(walk.dir, folder))).filter(
    (name) => (isGitSkipped !== true || name !== ".git") && excluded?.has(join(walk.dir, folder, name)) !== true,
  );
  const found: TreeEntry[] = [];
  for (let start = 0; start < names.length; start += PARALLEL_READS) {
    throwIfCancelled(walk.options.signal);
    const slice = names.slice(start, start + PARALLEL_READS);
    const hashed = await Promise.all(slice.map((name) => hashEntry(walk, folder, name)));
    found.push(
      ...hashed.filter((entry) => entry !== undefined && entry.mode !== "40000").map((entry) => entry as TreeEntry),
    );
    // Folders one after another: what is open at a time stays bounded.
    for (const [index, entry] of hashed.entries()) {
      if (entry?.mode !== "40000") continue;
      const digest = await hashLevel(walk, childPath(folder, slice[index] as string));
      if (digest !== undefined) found.push({ ...entry, digest });
    }
  }
  return found.length === 0 ? undefined : gitTreeDigest(found);
}

async function hashEntry(walk: Walk, folder: string, name: string): Promise<TreeEntry | undefined> {
  const path = childPath(folder, name);
  // What is not UTF-8 was replaced when the name was read, and the digest would be of another name.
  if (name.includes("\u{fffd}")) throw new Undigestible(`a name in "${folder}" is not UTF-8`);
  const stats = await lstat(join(walk.dir, path));
  walk.entries.push({ path, stats });
  if (walk.entries.length > walk.options.maxEntries) {
    throw new Undigestible(`it has more than ${walk.options.maxEntries} entries`);
  }
  if (stats.isDirectory()) return { name, mode: "40000", digest: "" };
  if (stats.isSymbolicLink()) {
    const target = await readlink(join(walk.dir, path), { encoding: "buffer" });
    return { name, mode: "120000", digest: gitBlobDigest(target) };
  }
  if (!stats.isFile()) throw new Undigestible(`"${path}" is neither file, folder nor link`);
  walk.bytes += stats.size;
  if (walk.bytes > walk.options.maxTotalBytes) {
    throw new Undigestible(`it is larger than ${walk.options.maxTotalBytes} bytes`);
  }
  const digest = walk.options.remembered?.(path, stats) ?? (await hashFile(join(walk.dir, path), stats.size));
  walk.options.onFile?.(path, stats, digest);
  return { name, mode: (stats.mode & 0o100) === 0 ? "100644" : "100755", digest };
}

async function hashFile(path: string, size: number): Promise<string> {
  if (size <= WHOLE_READ_BYTES) return gitBlobDigest(await readFile(path));
  const hash = createHash("sha256").update(`blob ${size}\0`);
  let read = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    read += chunk.byteLength;
    hash.update(chunk);
  }
  if (read !== size) throw new Undigestible(`"${path}" changed while it was read`);
  return hash.digest("hex");
}

function childPath(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
