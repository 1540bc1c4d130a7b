import { crc32 } from "node:zlib";

/** The part of a trace that a patch has: `start` is the offset of its first byte, `end` that of its last. */
export interface ContentRange {
  readonly start: number;
  /** The end as the runner wrote it; a server computes the end from the body's length, as GitLab does. */
  readonly end: number;
}

/** Reads the `Content-Range` of a patch, `START-END` without a unit; `undefined` if it is anything else. */
export function parseContentRange(header: string | undefined): ContentRange | undefined {
  const found = /^\s*(\d{1,15})-(\d{1,15})\s*$/u.exec(header ?? "");
  return found === null ? undefined : { start: Number(found[1]), end: Number(found[2]) };
}

/** Writes the `Content-Range` of a patch with so many bytes, at least one, from this offset on. */
export function formatContentRange(start: number, length: number): string {
  return `${start}-${start + length - 1}`;
}

/** Reads the `Range` of an answer, `0-SIZE`: the number of bytes that are stored. `undefined` if it is anything else. */
export function parseStoredRange(header: string | undefined): number | undefined {
  const found = /^\s*0-(\d{1,15})\s*$/u.exec(header ?? "");
  return found === null ? undefined : Number(found[1]);
}

/** Writes the `Range` of an answer: `0-` and the number of bytes that are stored. */
export function formatStoredRange(size: number): string {
  return `0-${size}`;
}

/** The CRC-32 of bytes that follow on those with the CRC-32 `before`; 0 before the first. */
export function traceCrc(bytes: Uint8Array, before = 0): number {
  return crc32(bytes, before);
}

/** Writes a checksum as the final update has it: `crc32:` and eight lower-case hexadecimal digits. */
export function formatChecksum(crc: number): string {
  return `crc32:${crc.toString(16).padStart(8, "0")}`;
}

/** Reads a checksum; `undefined` if it is of another kind. */
export function parseChecksum(checksum: string | undefined): number | undefined {
  const found = /^crc32:([0-9a-f]{1,8})$/iu.exec(checksum ?? "");
  return found?.[1] === undefined ? undefined : Number.parseInt(found[1], 16);
}
