import { constants, inflateSync } from "node:zlib";
import type { Limits } from "@steps/transfer";
import { CacheError } from "../cache-error.ts";

const OFS_DELTA = 6;
const REF_DELTA = 7;
const HEADER_BYTES = 12;
const TRAILER_BYTES = 20;

/**
 * Looks through a pack before isomorphic-git does, which unpacks each object whole in memory however large it is: every
 * object says its size before its packed bytes, and a delta the size of what it makes.
 *
 * @throws {CacheError} ARCHIVE_TOO_LARGE for an object larger than a file may be, or when all together are larger than a
 * component and its history may be; DIGEST_MISMATCH for what is no pack
 */
export function assertPack(pack: Uint8Array, limits: Pick<Limits, "maxFileBytes" | "maxTotalBytes">): void {
  const end = pack.length - TRAILER_BYTES;
  const count = pack.length > HEADER_BYTES ? new DataView(pack.buffer, pack.byteOffset).getUint32(8) : 0;
  let at = HEADER_BYTES;
  let total = 0;
  for (let index = 0; index < count && at < end; index += 1) {
    const header = readObjectHeader(pack, at);
    if (header.size > limits.maxFileBytes) throw tooLarge(`has an object larger than ${limits.maxFileBytes} bytes`);
    total += header.size;
    if (total > limits.maxTotalBytes) throw tooLarge(`unpacks to more than ${limits.maxTotalBytes} bytes`);
    const { bytes, content } = inflate(pack.subarray(header.end, end), header.size);
    if (header.isDelta && targetSize(content) > limits.maxFileBytes) {
      throw tooLarge(`has an object larger than ${limits.maxFileBytes} bytes`);
    }
    at = header.end + bytes;
  }
}

function readObjectHeader(pack: Uint8Array, start: number): { size: number; isDelta: boolean; end: number } {
  let at = start;
  let byte = pack[at++] ?? 0;
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  for (let factor = 16; byte >= 128; factor *= 128) {
    byte = pack[at++] ?? 0;
    size += (byte & 127) * factor;
  }
  if (type === REF_DELTA) at += TRAILER_BYTES;
  // The distance to the base, in as many bytes as it takes.
  if (type === OFS_DELTA) while ((pack[at++] ?? 0) >= 128);
  return { size, isDelta: type === OFS_DELTA || type === REF_DELTA, end: at };
}

function inflate(packed: Uint8Array, size: number): { bytes: number; content: Uint8Array } {
  try {
    // One byte more than it claims is noticed; no more than that is ever made.
    const options = { info: true, maxOutputLength: size + 1, finishFlush: constants.Z_SYNC_FLUSH };
    const { buffer, engine } = inflateSync(packed, options) as unknown as {
      readonly buffer: Uint8Array;
      readonly engine: { readonly bytesWritten: number };
    };
    if (buffer.length === size) return { bytes: engine.bytesWritten, content: buffer };
  } catch (cause) {
    throw new CacheError("DIGEST_MISMATCH", "Cannot unpack what git sent: an object is damaged", { cause });
  }
  throw new CacheError("DIGEST_MISMATCH", "Cannot unpack what git sent: an object does not have the size it claims");
}

/** A delta starts with the size of its base and the size of what it makes. */
function targetSize(delta: Uint8Array): number {
  let at = 0;
  while ((delta[at++] ?? 0) >= 128);
  let size = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = delta[at++] ?? 0;
    size += (byte & 127) * factor;
    if (byte < 128) return size;
  }
}

function tooLarge(problem: string): CacheError {
  return new CacheError("ARCHIVE_TOO_LARGE", `Cannot unpack component: what git sent ${problem}`, {
    hint: "Where there is a git program, only the files of the commit count.",
  });
}
