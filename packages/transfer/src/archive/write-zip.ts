import { createHash } from "node:crypto";
import { closeSync, constants, createReadStream, openSync, readFileSync, readlinkSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { crc32, createDeflateRaw, deflateRawSync } from "node:zlib";
import { TransferError } from "../error.ts";
import { centralHeader, endOfZip, type HeaderFields, localHeader, sizesAfter } from "./zip-headers.ts";

/** A file, link or folder to pack. */
export interface ZipSource {
  /** Slash-separated, relative. */
  readonly name: string;
  /** Its path on the disk. */
  readonly path: string;
  readonly type: "file" | "link" | "dir";
  /** Type and permissions, as `lstat` gives them. */
  readonly mode: number;
  /** As `lstat` gives it; a file that grows meanwhile is packed as far as it can be read. */
  readonly size: number;
  readonly modifiedAt: Date;
}

/** An archive that was written. */
export interface WrittenZip {
  /** SHA-256 of the file, in hex. */
  readonly digest: string;
  /** The size of the file. */
  readonly size: number;
}

const SMALL_BYTES = 256 * 1024;
const BUFFER_BYTES = 512 * 1024;
const CHUNK_BYTES = 256 * 1024;
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

/**
 * Packs files into a new zip archive (zip64 where it must be), one after the other; a large one is never in memory as a
 * whole. The same sources give the same bytes.
 *
 * @param level of compression, as zlib has it: 0 to 9
 * @throws {TransferError} ARCHIVE_TOO_LARGE for a file that grows past 4 GiB while it is read @throws {Error} of the system
 */
export async function writeZip(path: string, sources: Iterable<ZipSource>, level: number): Promise<WrittenZip> {
  const file = await open(path, "wx", 0o600);
  try {
    const output = new Output(file);
    const fields: HeaderFields[] = [];
    for (const source of sources) fields.push(await pack(output, source, level));
    const start = output.offset;
    for (const entry of fields) await output.write(centralHeader(entry));
    await output.write(endOfZip(fields.length, start, output.offset - start));
    await output.flush();
    return { digest: output.hash.digest("hex"), size: output.offset };
  } finally {
    await file.close();
  }
}

/** The bytes of the archive: they are digested, and gathered to writes that are worth a system call. */
class Output {
  readonly hash: ReturnType<typeof createHash> = createHash("sha256");
  readonly #file: FileHandle;
  readonly #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  offset = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.byteLength;
    this.offset += bytes.byteLength;
    if (this.#pendingBytes >= BUFFER_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pending.splice(0));
    this.#pendingBytes = 0;
    this.hash.update(bytes);
    await this.#file.writeFile(bytes);
  }
}

async function pack(output: Output, source: ZipSource, level: number): Promise<HeaderFields> {
  const { name, type, mode, size, modifiedAt } = source;
  const common = { name: type === "dir" ? `${name}/` : name, mode, modifiedAt, offset: output.offset };
  if (type === "file" && size > SMALL_BYTES) return await packLarge(output, source, { ...common, level });
  const content =
    type === "dir" ? Buffer.alloc(0) : type === "link" ? Buffer.from(readlinkSync(source.path)) : readSmall(source);
  const packed = type === "file" && level > 0 ? deflateRawSync(content, { level }) : content;
  const isSmaller = packed.byteLength < content.byteLength;
  const fields: HeaderFields = {
    ...common,
    isDeflated: isSmaller,
    isStreamed: false,
    isLarge: false,
    crc: crc32(content),
    size: content.byteLength,
    packedSize: isSmaller ? packed.byteLength : content.byteLength,
  };
  await output.write(localHeader(fields));
  await output.write(isSmaller ? packed : content);
  return fields;
}

// Waiting for the thread pool would take longer than reading a small file.
function readSmall({ path }: ZipSource): Buffer {
  const file = openSync(path, READ);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

type Common = Pick<HeaderFields, "name" | "mode" | "modifiedAt" | "offset"> & { readonly level: number };

async function packLarge(output: Output, source: ZipSource, { level, ...common }: Common): Promise<HeaderFields> {
  // Its packed size may be a little more than the size.
  const isLarge = source.size > 0xf000_0000;
  const header = { ...common, isDeflated: level > 0, isStreamed: true, isLarge, crc: 0, size: 0, packedSize: 0 };
  await output.write(localHeader(header));
  const start = output.offset;
  let crc = 0;
  let size = 0;
  const handle = await open(source.path, READ);
  const read = createReadStream("", { fd: handle, highWaterMark: CHUNK_BYTES });
  const counted = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      crc = crc32(chunk, crc);
      size += chunk.byteLength;
      yield chunk;
    }
  };
  const store = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) await output.write(chunk);
  };
  if (level > 0) await pipeline(read, counted, createDeflateRaw({ level, chunkSize: CHUNK_BYTES }), store);
  else await pipeline(read, counted, store);
  const fields = { ...header, crc, size, packedSize: output.offset - start };
  if (!isLarge && Math.max(size, fields.packedSize) > 0xffff_ffff) {
    throw new TransferError("ARCHIVE_TOO_LARGE", `Cannot pack "${source.name}": it grows while it is read`);
  }
  await output.write(sizesAfter(fields));
  return fields;
}
