import { createHash, randomBytes } from "node:crypto";
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import type { Value } from "@steps/model";
import { formatIdentity, livenessOf, makePrivateFolder, parseIdentity, processIdentity, sha256 } from "@steps/platform";
import { BuiltinError } from "../../builtin-error.ts";

/** The description of an entry of a store, as its `metadata.json` has it. */
export type Metadata = Readonly<Record<string, Value>>;

/** An entry of a store, as it was when it was opened. */
export interface StoreEntry {
  /** Its files; they may be gone once it was replaced. */
  readonly dir: string;
  readonly metadata: Metadata;
}

// The folder of what is published is beside the entries, so that a rename stays on one file system.
const METADATA = "metadata.json";
const GENERATIONS = ".generations";
const ABANDONED_MS = 24 * 60 * 60_000;
const MAX_ATTEMPTS = 10;
/** An entry that this process is about to publish. */
const unfinished = new Set<string>();

/**
 * The folder of an entry in a store: names of any length and form, none the same as another, and readable.
 *
 * @throws {BuiltinError} BUILTIN_FAILED for a store that is not an absolute path
 */
export function entryPath(store: string, name: string): string {
  if (!isAbsolute(store))
    throw new BuiltinError("BUILTIN_FAILED", `Cannot use store "${store}": the path is not absolute`);
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 63);
  return join(store, `${slug === "" ? "entry" : slug}-${sha256(name).slice(0, 12)}`);
}

/** Opens what a store has under a name; `undefined` where there is nothing that can be read. */
export function openEntry(path: string): StoreEntry | undefined {
  for (let attempt = 1; ; attempt += 1) {
    const dir = linkOf(path);
    if (dir === undefined) return undefined;
    try {
      const metadata = JSON.parse(readFileSync(join(dir, METADATA), "utf8")) as Metadata;
      return { dir, metadata };
    } catch {
      // Another process published the next one, and took this one away.
      if (attempt === MAX_ATTEMPTS || linkOf(path) === dir) return undefined;
    }
  }
}

function linkOf(path: string): string | undefined {
  try {
    return join(path, "..", readlinkSync(path));
  } catch {
    return undefined;
  }
}

/**
 * Publishes an entry: its files are written to a new folder, to which one link then leads in place of the old one. Whoever
 * reads sees the old entry or the new one, as a whole, whenever the writer is killed; of several writers the last one wins.
 */
export async function publishEntry(
  path: string,
  options: {
    /** Files and folders of the present entry that the new one has, too. */
    readonly keep?: readonly string[];
    /** Writes the files into the folder that it is given, and says what the entry is. */
    readonly write: (dir: string, present: StoreEntry | undefined) => Promise<Metadata>;
  },
): Promise<StoreEntry> {
  const generations = join(path, "..", GENERATIONS);
  makePrivateFolder(generations);
  const name = basename(path);
  const dir = join(generations, `${formatIdentity(processIdentity())}.${randomBytes(6).toString("hex")}.${name}`);
  unfinished.add(dir);
  mkdirSync(dir, { mode: 0o700 });
  try {
    const present = keepFiles(path, dir, options.keep ?? []);
    const metadata = await options.write(dir, present);
    writeFileSync(join(dir, METADATA), `${JSON.stringify(metadata, null, 2)}\n`, { mode: 0o600 });
    symlinkSync(join(GENERATIONS, basename(dir)), `${dir}.link`);
    renameSync(`${dir}.link`, path);
    return { dir, metadata };
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  } finally {
    unfinished.delete(dir);
    await sweep(path, generations);
  }
}

/** Publishes an entry of one store under a name in another one; the files are shared. Gives `false` where there is no such entry. */
export async function shareEntry(from: string, to: string): Promise<boolean> {
  const found = openEntry(from);
  if (found === undefined) return false;
  await publishEntry(to, {
    write(dir) {
      for (const name of readdirSync(found.dir)) {
        if (name !== METADATA) linkAll(join(found.dir, name), join(dir, name));
      }
      return Promise.resolve(found.metadata);
    },
  });
  return true;
}

/** Takes note that an entry is in use, for those that remove what is not. */
export function touchEntry({ dir }: StoreEntry): void {
  const now = new Date();
  try {
    utimesSync(dir, now, now);
  } catch {
    // Another process has replaced it.
  }
}

/** Removes an entry. Whoever reads it meanwhile may find it gone. Gives `false` where there is none. */
export async function removeEntry(path: string): Promise<boolean> {
  if (linkOf(path) === undefined) return false;
  rmSync(path, { force: true });
  await sweep(path, join(path, "..", GENERATIONS));
  return true;
}

/** The paths of all entries of a store; none where there is no store. */
export function entriesOf(store: string): readonly string[] {
  try {
    const found = readdirSync(store, { withFileTypes: true });
    return found.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(store, name));
  } catch {
    return [];
  }
}

/** Takes files over from the present entry, which it gives. */
function keepFiles(path: string, dir: string, names: readonly string[]): StoreEntry | undefined {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS * MAX_ATTEMPTS; attempt += 1) {
    const present = openEntry(path);
    if (present === undefined) return undefined;
    try {
      for (const name of names) linkAll(join(present.dir, name), join(dir, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    // An entry that is still there was there all the time; else another process has replaced it, and may have removed a part.
    if (linkOf(path) === present.dir) return present;
    for (const name of names) rmSync(join(dir, name), { recursive: true, force: true });
  }
  throw new BuiltinError("BUILTIN_FAILED", `Cannot publish "${path}": other processes replace it all the time`);
}

function linkAll(from: string, to: string): void {
  const stats = statSync(from, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isDirectory()) return linkSync(from, to);
  mkdirSync(to, { mode: 0o700 });
  for (const name of readdirSync(from)) linkAll(join(from, name), join(to, name));
}

/** Removes what was replaced, and what processes that are gone have left behind, of one entry. */
async function sweep(path: string, generations: string): Promise<void> {
  const current = linkOf(path);
  for (const name of readdirSync(generations)) {
    const full = join(generations, name);
    if (!name.replace(/\.link$/, "").endsWith(`.${basename(path)}`) || full === current) continue;
    if (!unfinished.has(full.replace(/\.link$/, "")) && isAbandoned(full, name))
      await rm(full, { recursive: true, force: true });
  }
}

// The process that made it may be about to publish it.
function isAbandoned(path: string, name: string): boolean {
  const owner = parseIdentity(name);
  const liveness = owner === undefined ? "gone" : livenessOf(owner);
  if (liveness === "alive") return owner?.pid === process.pid;
  return liveness === "gone" || Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > ABANDONED_MS;
}

/**
 * Opens an entry with the archive that its metadata names by `digest` (`sha256:` and hex digits), which is checked before
 * anybody looks into it. `undefined` where there is no entry; no file where it has none.
 *
 * @throws {BuiltinError} BUILTIN_FAILED for an archive that is not the one @throws {Error} of the system
 */
export async function openArchive(
  path: string,
  name: string,
): Promise<{ readonly entry: StoreEntry; readonly file: FileHandle | undefined } | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const entry = openEntry(path);
    if (entry === undefined) return undefined;
    const { digest } = entry.metadata;
    if (typeof digest !== "string" || digest === "") return { entry, file: undefined };
    try {
      return { entry, file: await openVerified(join(entry.dir, name), digest) };
    } catch (error) {
      const isReplaced = (error as NodeJS.ErrnoException).code === "ENOENT" && linkOf(path) !== entry.dir;
      if (!isReplaced || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function openVerified(path: string, digest: string): Promise<FileHandle> {
  const file = await open(path);
  try {
    const hash = createHash("sha256");
    for await (const chunk of file.createReadStream({ autoClose: false, start: 0, highWaterMark: 1024 * 1024 }))
      hash.update(chunk as Buffer);
    const found = `sha256:${hash.digest("hex")}`;
    if (found !== digest)
      throw new BuiltinError("BUILTIN_FAILED", `Cannot use "${path}": its digest is ${found}, and not ${digest}`);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
