import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  createReadStream,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { gitBlobDigest, gitTreeDigest, type TreeEntry } from "./git-digest.ts";
import { throwIfCancelled } from "@steps/transfer";
import type { UnusualEntries } from "@steps/transfer/archive";

/** One thing that lies in a folder. */
export interface FoundEntry {
  /** The path relative to the folder; empty for the folder itself. */
  readonly path: string;
  readonly stats: Stats;
}

/** The rules by which a tree's id is computed where it came from: its own hash, empty folders, unusual entries. */
export interface NativeForm {
  readonly algorithm: "sha1" | "sha256";
  readonly unusual: UnusualEntries;
}

export interface HashOptions {
  readonly maxEntries: number;
  readonly maxTotalBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** The absolute paths to leave out. */
  readonly excluded?: ReadonlySet<string> | undefined;
  /** Leaves out everything named `.git`. */
  readonly isGitSkipped?: boolean;
  /** Computes the tree's native id, too. */
  readonly native?: NativeForm | undefined;
  /** An empty folder that everything is copied to. The digests are those of what was written there. */
  readonly copyTo?: string | undefined;
  /** A digest known from before for a file that looks the same. */
  readonly remembered?: (path: string, stats: Stats) => string | undefined;
  readonly onFile?: (path: string, stats: Stats, digest: string) => void;
}

/** The digest of a folder, or the reason why it has none. */
export type FolderHash =
  | {
      readonly gitTree: string;
      readonly nativeTree: string | undefined;
      readonly bytes: number;
      readonly entries: readonly FoundEntry[];
    }
  | { readonly problem: string };

const WHOLE_READ_BYTES = 1024 * 1024;
// A trip through the pool of threads costs several times what a small file does; nobody else is held up for long.
const BYTES_AT_ONCE = 1024 * 1024;
const ENTRIES_AT_ONCE = 32;
// A path that was a file when it was listed is neither followed nor waited for if it is something else by now.
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** A folder that has no digest; found somewhere deep below. */
class Undigestible extends Error {}

/**
 * Computes git's id of a folder as it lies on the disk, in SHA-256. Links are taken as links; empty folders do not
 * count; sockets, devices and pipes make it a problem.
 */
export async function hashFolder(dir: string, options: HashOptions): Promise<FolderHash> {
  const walk: Walk = { dir, options, entries: [], bytes: 0, pause: createPause() };
  try {
    walk.entries.push({ path: "", stats: lstatSync(dir) });
    const top = await hashLevel(walk, "");
    const nativeTree = top.nativeDigest;
    return { gitTree: top.digest ?? gitTreeDigest([]), nativeTree, bytes: walk.bytes, entries: walk.entries };
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
  /** Lets others have their turn once enough was done. */
  readonly pause: (bytes: number) => Promise<void> | undefined;
}

interface Digests {
  /** The digest of the file or folder; undefined for an empty folder. */
  readonly digest: string | undefined;
  readonly nativeDigest: string | undefined;
}

async function hashLevel(walk: Walk, folder: string): Promise<Digests> {
  const { excluded, isGitSkipped, native, signal } = walk.options;
  const found: TreeEntry[] = [];
  const nativeFound: TreeEntry[] = [];
  for (const name of readdirSync(join(walk.dir, folder))) {
    if ((isGitSkipped === true && name === ".git") || excluded?.has(join(walk.dir, folder, name)) === true) continue;
    throwIfCancelled(signal);
    const path = folder === "" ? name : `${folder}/${name}`;
    const stats = look(walk, path);
    const { digest, nativeDigest } = stats.isDirectory()
      ? await hashFolderIn(walk, path)
      : await hashEntry(walk, path, stats);
    const mode = modeOf(stats);
    if (digest !== undefined) found.push({ name, mode, digest });
    const unusual = native?.unusual.get(path);
    // Empty folders count in this id only.
    if (unusual?.mode === "160000" && mode === "40000" && nativeDigest === gitTreeDigest([], native?.algorithm))
      nativeFound.push({ name, mode: unusual.mode, digest: unusual.id });
    else if (nativeDigest !== undefined) {
      const isPlain = unusual?.mode === "100664" && mode === "100644";
      nativeFound.push({ name, mode: isPlain ? unusual.mode : mode, digest: nativeDigest });
    }
    const pause = walk.pause(stats.isFile() ? stats.size : 0);
    if (pause !== undefined) await pause;
  }
  return {
    digest: found.length === 0 ? undefined : gitTreeDigest(found),
    nativeDigest: native === undefined ? undefined : gitTreeDigest(nativeFound, native.algorithm),
  };
}

function look(walk: Walk, path: string): Stats {
  // Bytes that are not UTF-8 were replaced when the name was read, so the digest would be that of another name.
  if (path.includes("\u{fffd}")) throw new Undigestible(`the name ${JSON.stringify(path)} is not UTF-8`);
  const stats = lstatSync(join(walk.dir, path));
  walk.entries.push({ path, stats });
  if (walk.entries.length > walk.options.maxEntries) {
    throw new Undigestible(`it has more than ${walk.options.maxEntries} entries`);
  }
  return stats;
}

async function hashFolderIn(walk: Walk, path: string): Promise<Digests> {
  const { copyTo } = walk.options;
  if (copyTo !== undefined) mkdirSync(join(copyTo, path), { mode: 0o755 });
  return await hashLevel(walk, path);
}

async function hashEntry(walk: Walk, path: string, stats: Stats): Promise<Digests> {
  const { copyTo, native } = walk.options;
  if (stats.isSymbolicLink()) {
    const target = readlinkSync(join(walk.dir, path), { encoding: "buffer" });
    if (copyTo !== undefined) symlinkSync(target, join(copyTo, path));
    return digestsOf(target, native);
  }
  if (!stats.isFile()) throw new Undigestible(`"${path}" is neither file, folder nor link`);
  walk.bytes += stats.size;
  if (walk.bytes > walk.options.maxTotalBytes) {
    throw new Undigestible(`it is larger than ${walk.options.maxTotalBytes} bytes`);
  }
  const remembered = walk.options.remembered?.(path, stats);
  const digests =
    remembered === undefined ? await hashFile(walk, path, stats) : { digest: remembered, nativeDigest: undefined };
  if (digests.digest !== undefined) walk.options.onFile?.(path, stats, digests.digest);
  return digests;
}

async function hashFile(walk: Walk, path: string, stats: Stats): Promise<Digests> {
  const { copyTo, native } = walk.options;
  const from = join(walk.dir, path);
  if (stats.size <= WHOLE_READ_BYTES) {
    const content = readWhole(from);
    if (copyTo !== undefined) writeWhole(join(copyTo, path), content, copyMode(stats));
    return digestsOf(content, native);
  }
  if (copyTo === undefined) return await hashStream(from, path, { size: stats.size, native });
  const to = join(copyTo, path);
  // Blocks are shared where the file system can; hard links never, because a change would reach the cache.
  copyFileSync(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  chmodSync(to, copyMode(stats));
  return await hashStream(to, path, { size: stats.size, native });
}

function readWhole(path: string): Buffer {
  const file = openSync(path, READ);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function writeWhole(path: string, content: Buffer, mode: number): void {
  const file = openSync(path, CREATE, mode);
  try {
    writeFileSync(file, content);
    fchmodSync(file, mode);
  } finally {
    closeSync(file);
  }
}

function digestsOf(content: Buffer, native: NativeForm | undefined): Digests {
  const digest = gitBlobDigest(content);
  return { digest, nativeDigest: native?.algorithm === "sha1" ? gitBlobDigest(content, "sha1") : digest };
}

async function hashStream(
  file: string,
  path: string,
  { size, native }: { readonly size: number; readonly native: NativeForm | undefined },
): Promise<Digests> {
  const algorithms = native?.algorithm === "sha1" ? ["sha256", "sha1"] : ["sha256"];
  const hashes = algorithms.map((algorithm) => createHash(algorithm).update(`blob ${size}\0`));
  let read = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    read += chunk.byteLength;
    for (const hash of hashes) hash.update(chunk);
  }
  if (read !== size) throw new Undigestible(`"${path}" changed while it was read`);
  const [digest, nativeDigest = digest] = hashes.map((hash) => hash.digest("hex"));
  return { digest, nativeDigest };
}

function modeOf(stats: Stats): TreeEntry["mode"] {
  if (stats.isDirectory()) return "40000";
  if (stats.isSymbolicLink()) return "120000";
  return (stats.mode & 0o100) === 0 ? "100644" : "100755";
}

function copyMode(stats: Stats): number {
  return (stats.mode & 0o100) === 0 ? 0o644 : 0o755;
}

function createPause(): Walk["pause"] {
  let bytes = 0;
  let entries = 0;
  return (more) => {
    bytes += more;
    entries += 1;
    if (bytes < BYTES_AT_ONCE && entries < ENTRIES_AT_ONCE) return undefined;
    bytes = 0;
    entries = 0;
    return setImmediate();
  };
}
