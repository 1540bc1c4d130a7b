import { StepsError } from "../error.ts";
import { printable, type Source } from "../diagnostic/position.ts";

/** The first place at which bytes are not UTF-8. */
export interface MalformedUtf8 {
  /** The offset from the start, in bytes. */
  readonly byte: number;
  /** The number of the line, from 1. */
  readonly line: number;
}

/**
 * A file as a source: what its bytes say in UTF-8. Bytes that are none are kept as U+FFFD so that the text can be shown, and
 * `malformed` says where they begin; the readers of sources refuse such a text.
 */
export function decodeSource(name: string, bytes: Uint8Array): Source {
  const malformed = findMalformed(bytes);
  if (malformed === undefined) return { name, text: decode(bytes) };
  return {
    name,
    text: decode(bytes),
    malformed: { ...malformed, offset: decode(bytes.subarray(0, malformed.byte)).length },
  };
}

/**
 * Decodes UTF-8. `name` is the name by which the reader knows the text. @throws {StepsError} TEXT_INVALID with line and
 * byte
 */
export function decodeUtf8(name: string, bytes: Uint8Array): string {
  const malformed = findMalformed(bytes);
  if (malformed === undefined) return decode(bytes);
  throw new StepsError("TEXT_INVALID", `${printable(name)}:${malformed.line}: ${describeMalformed(malformed)}`, {
    hint: "Save the file as UTF-8.",
  });
}

/** Returns a message about such a text. Bytes count from 0. */
export function describeMalformed({ byte }: Pick<MalformedUtf8, "byte">): string {
  return `The text is not UTF-8: byte ${byte} begins no character`;
}

/** The first place where bytes are not UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
export function findMalformed(bytes: Uint8Array): MalformedUtf8 | undefined {
  if (isWellFormed(bytes)) return undefined;
  let at = 0;
  let line = 1;
  while (at < bytes.length) {
    const length = characterLength(bytes, at);
    if (length === 0) return { byte: at, line };
    if (bytes[at] === 0x0a) line += 1;
    at += length;
  }
  return undefined;
}

function isWellFormed(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** How many bytes the character has that begins here; 0 if none does. */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 1;
  const length =
    first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  const lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  for (let i = 1; i < length; i++) {
    const next = bytes[at + i] ?? 0;
    if (next < (i === 1 ? lowest : 0x80) || next > (i === 1 ? highest : 0xbf)) return 0;
  }
  return length;
}

// A byte order mark stays in the text, so that positions in it are those of the file.
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
