import { MAX_INDENT } from "./parse-command.ts";

/** A walk over bytes: up to `at` everything is decided, up to `printed` everything is in `parts`. */
export interface Scanner {
  readonly bytes: Buffer;
  readonly parts: Uint8Array[];
  at: number;
  printed: number;
  /**
   * The offsets at which the next one of each was found, so that each byte is searched only once; past the end for
   * none.
   */
  colons?: number;
  hashes?: number;
  feed?: number;
  carriage?: number;
}

const LF = 0x0a;
const CR = 0x0d;
const COLONS = Buffer.from("::");
const HASHES = Buffer.from("##[");
const COLON = 0x3a;
const HASH = 0x23;

/** Returns the offset of the LF or CR that ends the line of a byte. */
export function nextLineEnd(scanner: Scanner, from: number): number | undefined {
  const { bytes } = scanner;
  if (scanner.feed === undefined || scanner.feed < from) scanner.feed = found(bytes.indexOf(LF, from));
  if (scanner.carriage === undefined || scanner.carriage < from) scanner.carriage = found(bytes.indexOf(CR, from));
  const end = Math.min(scanner.feed, scanner.carriage);
  return end === Infinity ? undefined : end;
}

/**
 * Returns the offset, not before `at`, of the next text that may be a command: the start of a line that has `::` after
 * nothing but blanks, or `##[` first, or the first `##[` of a line that begins with something else.
 */
export function startsCandidate(scanner: Scanner, isLineStart: boolean): number | undefined {
  const { bytes, at } = scanner;
  if (scanner.hashes === undefined || scanner.hashes < at) scanner.hashes = found(bytes.indexOf(HASHES, at));
  for (let from = at; ;) {
    if (scanner.colons === undefined || scanner.colons < from) scanner.colons = found(bytes.indexOf(COLONS, from));
    const next = Math.min(scanner.colons, scanner.hashes);
    if (next === Infinity) return undefined;
    const start = lineStart(bytes, next, { at, isLineStart });
    if (start !== undefined) return start;
    if (next === scanner.hashes) return next;
    // Nothing else in this line can begin with it.
    from = nextLineEnd(scanner, next) ?? bytes.length;
  }
}

/** Returns the offset from which on the last bytes may begin a command; their count if none do. */
export function tailStart(scanner: Scanner, isLineStart: boolean): number {
  const { bytes, at } = scanner;
  const length = bytes.length;
  const last = bytes[length - 1];
  let end = length;
  if (last === COLON) end -= 1;
  else while (length - end < 2 && end > at && bytes[end - 1] === HASH) end -= 1;
  const start = lineStart(bytes, end, { at, isLineStart });
  if (start !== undefined) return start;
  return last === COLON ? length : end;
}

// Finds the start of the line that has only blanks up to an offset.
function lineStart(
  bytes: Buffer,
  offset: number,
  { at, isLineStart }: { readonly at: number; readonly isLineStart: boolean },
): number | undefined {
  let start = offset;
  while (start > at && isBlank(bytes[start - 1] as number)) {
    start -= 1;
    if (offset - start > MAX_INDENT) return undefined;
  }
  if (start === at) return isLineStart ? at : undefined;
  return bytes[start - 1] === LF || bytes[start - 1] === CR ? start : undefined;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0b || byte === 0x0c;
}

function found(offset: number): number {
  return offset < 0 ? Infinity : offset;
}
