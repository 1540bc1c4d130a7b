import { crc32 } from "node:zlib";

/** Whose bytes a record is about: those of the job's processes, or lines of the service's own. */
export type LogStream = "stdout" | "stderr" | "runner";

/** One write of a job: where its bytes lie. Records are in order of arrival. */
export interface IndexRecord {
  /** The time of the write, in microseconds since 1970. */
  readonly timeUs: number;
  /** Number of the file in the job's list of files. */
  readonly file: number;
  readonly offset: number;
  readonly bytes: number;
  readonly stream: LogStream;
}

/** Every record has this length, so that record `n` is found without reading those before it. */
export const RECORD_BYTES = 32;

const STREAMS: readonly LogStream[] = ["stdout", "stderr", "runner"];
const CHECKED_BYTES = 28;

/**
 * Encodes a record: time as u64, offset as u64, length as u32, file as u32, stream as u32, CRC-32 of all before; little
 * endian.
 */
export function encodeRecord(record: IndexRecord): Buffer {
  const buffer = Buffer.alloc(RECORD_BYTES);
  writeNumber(buffer, record.timeUs, 0);
  writeNumber(buffer, record.offset, 8);
  buffer.writeUInt32LE(record.bytes, 16);
  buffer.writeUInt32LE(record.file, 20);
  buffer.writeUInt32LE(STREAMS.indexOf(record.stream), 24);
  buffer.writeUInt32LE(crc32(buffer.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
  return buffer;
}

/** The record at a place of a block; `undefined` if what stands there is none. */
export function decodeRecord(block: Buffer, at: number): IndexRecord | undefined {
  const stream = STREAMS[block.readUInt32LE(at + 24)];
  if (stream === undefined) return undefined;
  return {
    timeUs: readNumber(block, at),
    offset: readNumber(block, at + 8),
    bytes: block.readUInt32LE(at + 16),
    file: block.readUInt32LE(at + 20),
    stream,
  };
}

/** Whether the record at a place of a block is one that was written whole. */
export function isIntact(block: Buffer, at: number): boolean {
  return crc32(block.subarray(at, at + CHECKED_BYTES)) === block.readUInt32LE(at + CHECKED_BYTES);
}

// Big integers are slow, and 53 bits are enough for both.
function writeNumber(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt32LE(value % 0x1_0000_0000, at);
  buffer.writeUInt32LE(Math.floor(value / 0x1_0000_0000), at + 4);
}

function readNumber(block: Buffer, at: number): number {
  return block.readUInt32LE(at) + block.readUInt32LE(at + 4) * 0x1_0000_0000;
}
