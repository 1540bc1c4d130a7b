import { LAUNCHER_ARM64 } from "./launcher-arm64.ts";
import { COMMON_TEXTS, type LauncherCode, readListing } from "./launcher-code.ts";
import { LAUNCHER_X64 } from "./launcher-x64.ts";

/** An argument that a launcher adds: a text as it is, or a path below the launcher's own folder. */
export type LauncherArgument = { readonly text: string } | { readonly beside: string };

/** The program that a launcher starts, and its arguments. */
export interface LauncherTarget {
  /** The program, as a path below the launcher's folder. */
  readonly program: string;
  /** Its first arguments; the launcher's own path and what it was given, its name included, come after them. */
  readonly args: readonly LauncherArgument[];
}

/** The launchers there are, by Node's names of processors. */
export const LAUNCHER_CODES: Readonly<Record<string, LauncherCode>> = { x64: LAUNCHER_X64, arm64: LAUNCHER_ARM64 };

const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const CODE_AT = HEADER_BYTES + 2 * SEGMENT_BYTES;
const BASE_ADDRESS = 0x40_0000;
/** No page of any kernel is larger. */
const ALIGNMENT = 0x1_0000;
/** The code has room for four paths of 4096 bytes and this much more. */
const MAX_TABLE_BYTES = 1500;
const MAX_PATHS = 4;

/**
 * A program for Linux that needs nothing but the kernel and starts another one that lies in its own folder: an ELF
 * executable of about a kilobyte with one segment that is read and executed. It follows symbolic links to itself, the
 * folder may be anywhere and may be moved, and it writes nowhere.
 */
export function launcherElf(code: LauncherCode, target: LauncherTarget): Buffer {
  const body = Buffer.concat([
    ...readListing(code.listing).map(({ bytes }) => bytes),
    ...[...code.texts, ...COMMON_TEXTS].map(terminated),
    table(target),
  ]);
  return Buffer.concat([headers(code.machine, CODE_AT + body.length), body]);
}

/** The last argument comes first and the program last; each is led by what it is, and 0 ends the table. */
function table({ program, args }: LauncherTarget): Buffer {
  const entries: LauncherArgument[] = [{ beside: program }, ...args];
  const bytes = Buffer.concat([
    ...entries
      .toReversed()
      .map((entry) =>
        "text" in entry ? Buffer.from([1, ...terminated(entry.text)]) : Buffer.from([2, ...terminated(entry.beside)]),
      ),
    Buffer.from([0]),
  ]);
  if (bytes.length > MAX_TABLE_BYTES || entries.filter((entry) => "beside" in entry).length > MAX_PATHS)
    throw new RangeError("The arguments of a launcher are too long");
  return bytes;
}

function terminated(text: string): Buffer {
  if (text.includes("\0")) throw new RangeError("An argument of a launcher holds a zero byte");
  return Buffer.from(`${text}\0`);
}

/** The header of the file, a segment that is all of it, and one that says that the stack is not to be executed. */
function headers(machine: number, fileBytes: number): Buffer {
  const bytes = Buffer.alloc(CODE_AT);
  // 64 bits, little-endian, version 1; the system is left open, as Linux wants.
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  bytes.writeUInt16LE(2, 16); // an executable at a fixed address
  bytes.writeUInt16LE(machine, 18);
  bytes.writeUInt32LE(1, 20);
  bytes.writeBigUInt64LE(BigInt(BASE_ADDRESS + CODE_AT), 24); // where it starts
  bytes.writeBigUInt64LE(BigInt(HEADER_BYTES), 32); // where the segments are listed
  bytes.writeUInt16LE(HEADER_BYTES, 52);
  bytes.writeUInt16LE(SEGMENT_BYTES, 54);
  bytes.writeUInt16LE(2, 56);
  bytes.writeUInt16LE(64, 58); // the size of a section, of which there are none
  segment(bytes.subarray(HEADER_BYTES), { type: 1, flags: 5, address: BASE_ADDRESS, size: fileBytes });
  segment(bytes.subarray(HEADER_BYTES + SEGMENT_BYTES), { type: 0x6474_e551, flags: 6, address: 0, size: 0 });
  return bytes;
}

interface Segment {
  readonly type: number;
  /** 1 execute, 2 write, 4 read. */
  readonly flags: number;
  readonly address: number;
  readonly size: number;
}

function segment(bytes: Buffer, { type, flags, address, size }: Segment): void {
  bytes.writeUInt32LE(type, 0);
  bytes.writeUInt32LE(flags, 4);
  bytes.writeBigUInt64LE(BigInt(address), 16);
  bytes.writeBigUInt64LE(BigInt(address), 24);
  bytes.writeBigUInt64LE(BigInt(size), 32);
  bytes.writeBigUInt64LE(BigInt(size), 40);
  bytes.writeBigUInt64LE(BigInt(type === 1 ? ALIGNMENT : 16), 48);
}
