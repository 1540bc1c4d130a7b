import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type Limits, systemCode, throwIfCancelled } from "@steps/transfer";
import { createTreePlan } from "@steps/transfer/archive";
import { BuildError } from "./build-error.ts";

/** Files to put into a layer: where each goes in the image, and where it is taken from. */
export type FileMap = Readonly<Record<string, string>>;

/** A layer that was written. */
export interface WrittenLayer {
  readonly path: string;
  /** The digest of the packed file, 64 hex digits. */
  readonly sha256: string;
  readonly size: number;
  /** The digest of the tar archive in it: the `diff_id` of an image's configuration. */
  readonly diffId: string;
}

export interface WriteLayerOptions {
  /** The folder that sources are relative to. */
  readonly baseDir: string;
  readonly limits: Limits;
  /** Seconds since 1970, of everything in the layer. */
  readonly mtimeS: number;
  readonly signal?: AbortSignal | undefined;
}

interface Entry {
  readonly type: "file" | "dir" | "link";
  readonly source: string;
  readonly size: number;
  readonly isExecutable: boolean;
  readonly target: string;
}

const BLOCK_BYTES = 512;

/**
 * Writes files into a layer, a tar archive packed by gzip. The same files give the same bytes: entries are in order,
 * times and owners are fixed, modes are reduced to whether a file can be run. What a fetch would refuse is refused here.
 *
 * @throws {BuildError} FILES_INVALID @throws {TransferError} UNSAFE_ENTRY, ARCHIVE_TOO_LARGE
 */
export async function writeLayer(path: string, files: FileMap, options: WriteLayerOptions): Promise<WrittenLayer> {
  const entries = await collectEntries(files, options);
  const diff = createHash("sha256");
  const packed = createHash("sha256");
  let size = 0;
  const archive = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of writeTar(entries, options)) {
      diff.update(chunk);
      yield chunk;
    }
  };
  const counted = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      packed.update(chunk);
      size += chunk.byteLength;
      yield chunk;
    }
  };
  await pipeline(Readable.from(archive()), createGzip({ level: 9 }), counted, createWriteStream(path, { mode: 0o600 }));
  return { path, sha256: packed.digest("hex"), size, diffId: `sha256:${diff.digest("hex")}` };
}

/** Everything that goes into the image, in order. A folder brings what is in it. */
async function collectEntries(files: FileMap, options: WriteLayerOptions): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>();
  const add = async (place: string, source: string): Promise<void> => {
    throwIfCancelled(options.signal);
    const entry = await look(source);
    if (place !== "") found.set(place, entry);
    if (entry.type !== "dir") return;
    for (const name of (await readdir(source)).toSorted()) {
      // An image is no place for the repository that it was made in.
      if (name !== ".git") await add(place === "" ? name : `${place}/${name}`, join(source, name));
    }
  };
  for (const [written, source] of Object.entries(files)) {
    const place = written
      .replace(/^(?:\.?\/+)+/, "")
      .replace(/\/+$/, "")
      .replace(/^\.$/, "");
    await add(place, resolve(options.baseDir, source));
  }
  await checkEntries(found, options.limits);
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function look(source: string): Promise<Entry> {
  try {
    const stats = await lstat(source);
    const isExecutable = (stats.mode & 0o111) !== 0;
    const base = { source, size: 0, isExecutable, target: "" };
    if (stats.isFile()) return { ...base, type: "file", size: stats.size };
    if (stats.isDirectory()) return { ...base, type: "dir" };
    if (stats.isSymbolicLink()) return { ...base, type: "link", target: await readlink(source) };
    throw new BuildError("FILES_INVALID", `Cannot build image: "${source}" is no file, folder or link`);
  } catch (cause) {
    if (systemCode(cause) !== "ENOENT" && systemCode(cause) !== "ENOTDIR") throw cause;
    throw new BuildError("FILES_INVALID", `Cannot build image: "${source}" does not exist`, { cause });
  }
}

// These are the rules of a fetch, so that no image is built that nobody could use.
async function checkEntries(entries: ReadonlyMap<string, Entry>, limits: Limits): Promise<void> {
  const plan = createTreePlan(limits);
  let bytes = 0;
  for (const [path, { type, size, target }] of entries) {
    const node = plan.add({ path, type });
    node.target = target;
    bytes += size;
    if (size > limits.maxFileBytes || bytes > limits.maxTotalBytes) {
      throw new BuildError("FILES_INVALID", `Cannot build image: its files are too large, "${path}" among them`);
    }
  }
  plan.checkLinks();
}

async function* writeTar(
  entries: ReadonlyMap<string, Entry>,
  { mtimeS, signal }: WriteLayerOptions,
): AsyncGenerator<Uint8Array> {
  const { Header, Pax } = await import("tar");
  for (const [path, entry] of entries) {
    throwIfCancelled(signal);
    const { type, size, isExecutable, target, source } = entry;
    const fields = {
      path: type === "dir" ? `${path}/` : path,
      mode: type === "dir" || isExecutable ? 0o755 : 0o644,
      uid: 0,
      gid: 0,
      size,
      mtime: new Date(mtimeS * 1000),
      type: type === "dir" ? "Directory" : type === "link" ? "SymbolicLink" : "File",
      ...(type === "link" ? { linkpath: target } : {}),
    } as const;
    const header = new Header({ ...fields, mode: type === "link" ? 0o777 : fields.mode });
    const block = Buffer.alloc(BLOCK_BYTES);
    // Names that have no room in a header go into one of their own.
    if (header.encode(block)) {
      const { path: longPath } = fields;
      yield new Pax({ path: longPath, size, ...(type === "link" ? { linkpath: target } : {}) }).encode();
    }
    yield block;
    if (type === "file") yield* readExactly(source, size);
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

async function* readExactly(source: string, size: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of createReadStream(source) as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > size) break;
    yield chunk;
  }
  if (bytes !== size)
    throw new BuildError("FILES_INVALID", `Cannot build image: "${source}" changed while it was read`);
  yield Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
}
