import { closeSync, openSync, readSync } from "node:fs";

/** The facts in a program or library about how it is to be loaded. */
export interface ElfFacts {
  /** The loader that starts it; programs have one, and some libraries. */
  readonly interpreter: string | undefined;
  /** The name by which others ask for it. */
  readonly soname: string | undefined;
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly fileBytes: number;
}

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_STRTAB = 5;
const DT_SONAME = 14;
/** Names of files are not longer; what claims to be is not read. */
const MAX_TEXT_BYTES = 4096;
const MAX_TABLE_BYTES = 65_536;

/** Reads the heads of a 64-bit little-endian ELF file; `undefined` for any other file. */
export function readElf(path: string): ElfFacts | undefined {
  const fd = openSync(path, "r");
  try {
    const read = (at: number, size: number): Buffer => {
      if (at < 0 || !Number.isSafeInteger(at)) return Buffer.alloc(0);
      const bytes = Buffer.alloc(Math.min(size, MAX_TABLE_BYTES));
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, at));
    };
    const head = read(0, 64);
    if (head.length < 64 || head.readUInt32BE(0) !== 0x7f45_4c46 || head[4] !== 2 || head[5] !== 1) return undefined;
    const segments = readSegments(head, read);
    const interp = segments.find(({ type }) => type === PT_INTERP);
    return {
      interpreter: interp === undefined ? undefined : textAt(read, interp.offset),
      soname: readSoname(segments, read),
    };
  } finally {
    closeSync(fd);
  }
}

type Read = (at: number, size: number) => Buffer;

function readSegments(head: Buffer, read: Read): Segment[] {
  const entryBytes = head.readUInt16LE(54);
  if (entryBytes < 56) return [];
  const table = read(Number(head.readBigUInt64LE(32)), entryBytes * head.readUInt16LE(56));
  return Array.from({ length: Math.floor(table.length / entryBytes) }, (_, index) => {
    const entry = table.subarray(index * entryBytes);
    return {
      type: entry.readUInt32LE(0),
      offset: Number(entry.readBigUInt64LE(8)),
      address: Number(entry.readBigUInt64LE(16)),
      fileBytes: Number(entry.readBigUInt64LE(32)),
    };
  });
}

function readSoname(segments: readonly Segment[], read: Read): string | undefined {
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  if (dynamic === undefined) return undefined;
  const table = read(dynamic.offset, dynamic.fileBytes);
  const value = (tag: number): number | undefined => {
    for (let at = 0; at + 16 <= table.length; at += 16)
      if (table.readBigInt64LE(at) === BigInt(tag)) return Number(table.readBigUInt64LE(at + 8));
    return undefined;
  };
  const strings = value(DT_STRTAB);
  const name = value(DT_SONAME);
  if (strings === undefined || name === undefined) return undefined;
  // The table of strings is named by its place in memory.
  const home = segments.find(
    ({ type, address, fileBytes }) => type === PT_LOAD && strings >= address && strings < address + fileBytes,
  );
  return home === undefined ? undefined : textAt(read, strings - home.address + home.offset + name);
}

function textAt(read: Read, at: number): string {
  const bytes = read(at, MAX_TEXT_BYTES);
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end === -1 ? bytes.length : end);
}
