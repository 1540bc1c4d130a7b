import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DEFAULT_LIMITS, systemCode, throwIfCancelled } from "@steps/transfer";
import { BuildError } from "./build-error.ts";
import { readTar } from "@steps/transfer/archive";

const BLOCK_BYTES = 512;
const NAME = /^(?:oci-layout|index\.json|blobs\/sha(?:256|512)\/[0-9a-f]{64,128})$/;

/** Packs an image in the OCI layout into one file, which appears complete or not at all. */
export async function packLayout(dir: string, path: string): Promise<void> {
  const blobs = (await readdir(join(dir, "blobs", "sha256"))).toSorted().map((name) => `blobs/sha256/${name}`);
  const temporary = `${path}.${process.pid}.part`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await pipeline(
      Readable.from(writeFiles(dir, ["oci-layout", "index.json", ...blobs])),
      createWriteStream(temporary, { flags: "wx" }),
    );
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function* writeFiles(dir: string, names: readonly string[]): AsyncGenerator<Uint8Array> {
  const { Header } = await import("tar");
  for (const path of names) {
    const { size } = await stat(join(dir, path));
    const block = Buffer.alloc(BLOCK_BYTES);
    new Header({ path, mode: 0o644, uid: 0, gid: 0, size, mtime: new Date(0), type: "File" }).encode(block);
    yield block;
    yield* createReadStream(join(dir, path)) as AsyncIterable<Buffer>;
    yield Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/**
 * Opens an image in the OCI layout: a folder as it is, an archive unpacked into `scratch`.
 *
 * @throws {BuildError} ARCHIVE_INVALID @throws {TransferError} ARCHIVE_INVALID, ARCHIVE_TOO_LARGE, CANCELLED
 */
export async function openLayout(path: string, scratch: string, signal?: AbortSignal): Promise<string> {
  if (await isFolder(path)) return path;
  const maxBytes = DEFAULT_LIMITS.maxDownloadBytes;
  for await (const { path: name, type, content } of readTar(path, { maxBytes, signal, what: `"${path}"` })) {
    // Others have files of their own beside these.
    if (type !== "file" || !NAME.test(name)) continue;
    const target = join(scratch, name);
    await mkdir(dirname(target), { recursive: true });
    await pipeline(Readable.from(content), createWriteStream(target, { flags: "wx", mode: 0o600 }));
  }
  return scratch;
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (cause) {
    if (systemCode(cause) !== "ENOENT") throw cause;
    throw new BuildError("ARCHIVE_INVALID", `Cannot publish image: "${path}" does not exist`, { cause });
  }
}

/** The path of a blob in a layout, which must be what its digest says. @throws {BuildError} ARCHIVE_INVALID */
export async function checkedBlob(
  dir: string,
  digest: string,
  options: { readonly size?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const [algorithm = "", hex = ""] = digest.split(":");
  const path = join(dir, "blobs", algorithm, hex);
  const hash = createHash(algorithm);
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      throwIfCancelled(options.signal);
      bytes += chunk.byteLength;
      hash.update(chunk);
    }
  } catch (cause) {
    if (systemCode(cause) !== "ENOENT") throw cause;
    throw new BuildError("ARCHIVE_INVALID", `Cannot publish image: ${digest} is not in it`, { cause });
  }
  if (hash.digest("hex") === hex && (options.size === undefined || bytes === options.size)) return path;
  throw new BuildError("ARCHIVE_INVALID", `Cannot publish image: ${digest} is not what it says`);
}

/** A JSON file of the layout itself. */
export async function readLayoutFile(dir: string, name: string): Promise<string> {
  try {
    return await readFile(join(dir, name), "utf8");
  } catch (cause) {
    if (systemCode(cause) !== "ENOENT") throw cause;
    throw new BuildError("ARCHIVE_INVALID", `Cannot publish image: it has no ${name}, so it is not in the OCI layout`, {
      cause,
    });
  }
}
