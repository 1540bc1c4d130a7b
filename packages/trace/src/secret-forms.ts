import { base64Forms, dumpForms, hexForms, textForms } from "./secret-encodings.ts";

/** Below this many bytes a secret is not looked for at all: masking it would ruin the log. */
const MIN_SECRET_BYTES = 5;
/** The length in bytes from which on the encodings of a secret are looked for too. */
const MIN_ENCODED_BYTES = 8;
const MIN_FORM_LENGTH = 6;
const MIN_WRAPPED_BASE64 = 40;
/** Above this a secret is looked for as it is and line by line, not in its encodings. */
const MAX_ENCODED_BYTES = 65_536;
const MAX_ENCODED_PARTS_BYTES = 16_384;
const MAX_DUMPED_BYTES = 256;
const MAX_JSON_LENGTH = 1024 * 1024;
const MAX_COMMON_LENGTH = 16;

const STOP_LIST: ReadonlySet<string> = new Set(
  (
    "true false null none main master trunk develop yes no on off undefined default latest string number boolean object " +
    "array debug error warning success failure failed passed running skipped cancelled enabled disabled public private " +
    "internal localhost production staging development testing release masked [masked]"
  ).split(" "),
);

/** Whether a text is too short or too common to be masked. */
export function isUnmaskable(secret: string): boolean {
  const trimmed = secret.trim();
  if (trimmed.length > MAX_COMMON_LENGTH) return false;
  return Buffer.byteLength(trimmed) < MIN_SECRET_BYTES || STOP_LIST.has(trimmed.toLowerCase());
}

/**
 * Yields the unencoded forms of a secret: itself, trimmed, each of its lines, and if it is JSON each string inside it
 * and each line of these. The bytes are views of few buffers.
 */
export function* plainForms(secret: string): Generator<Uint8Array> {
  const whole = Buffer.from(secret);
  yield whole;
  yield* linesOf(whole);
  for (const leaf of jsonLeaves(secret)) yield* linesOf(Buffer.from(leaf));
}

/** A text without the blanks around it, and each of its lines; not those that are too short or too common. */
function* linesOf(text: Buffer): Generator<Uint8Array> {
  const whole = trimmed(text, 0, text.length);
  if (whole !== undefined) yield whole;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== LINE_FEED && text[at] !== CARRIAGE_RETURN) continue;
    const line = trimmed(text, start, at);
    if (line !== undefined) yield line;
    start = at + 1;
  }
  const last = start === 0 ? undefined : trimmed(text, start, text.length);
  if (last !== undefined) yield last;
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

function trimmed(text: Buffer, start: number, end: number): Uint8Array | undefined {
  let from = start;
  let to = end;
  while (from < to && isBlank(text[from] as number)) from += 1;
  while (to > from && isBlank(text[to - 1] as number)) to -= 1;
  if (to - from < MIN_SECRET_BYTES) return undefined;
  if (to - from <= MAX_COMMON_LENGTH && isUnmaskable(text.toString("utf8", from, to))) return undefined;
  return text.subarray(from, to);
}

function isBlank(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}

function jsonLeaves(secret: string): string[] {
  if (secret.length > MAX_JSON_LENGTH || !/^\s*[[{"]/.test(secret)) return [];
  const leaves: string[] = [];
  try {
    JSON.parse(secret, (_, value: unknown) => {
      if (typeof value === "string") leaves.push(value);
      return null;
    });
  } catch {
    return [];
  }
  return leaves;
}

/** A text that a secret is looked for as, when somebody has encoded it. */
export interface EncodedForm {
  readonly text: string;
  /** Its writers break lines in it: it is looked for across line breaks too. */
  readonly isWrapped: boolean;
}

/** The usual encodings of a secret of 8 bytes and more and of its parts, those that are seen most first. */
export function* encodedForms(secret: string): Generator<EncodedForm> {
  for (const text of encodedTexts(secret)) {
    for (const form of textForms(text)) if (form.length >= MIN_FORM_LENGTH) yield { text: form, isWrapped: false };
    for (const form of base64Forms(text)) {
      if (form.length >= MIN_FORM_LENGTH) yield { text: form, isWrapped: form.length >= MIN_WRAPPED_BASE64 };
    }
    for (const form of hexForms(text)) yield { text: form, isWrapped: false };
  }
}

/**
 * Yields the forms in which `od` and similar tools print a secret of at most 256 bytes and its parts. They are in
 * pieces, because these tools print rows.
 */
export function* dumpedForms(secret: string): Generator<Uint8Array> {
  for (const text of encodedTexts(secret)) {
    const bytes = Buffer.from(text);
    if (bytes.length <= MAX_DUMPED_BYTES) yield* dumpForms(bytes);
  }
}

function encodedTexts(secret: string): ReadonlySet<string> {
  const texts = new Set<string>();
  // A text has at least a byte for each of its units.
  if (secret.length > MAX_ENCODED_BYTES) return texts;
  const bytes = Buffer.byteLength(secret);
  const add = (text: string): void => {
    if (Buffer.byteLength(text) >= MIN_ENCODED_BYTES) texts.add(text);
  };
  if (bytes <= MAX_ENCODED_BYTES) {
    add(secret);
    add(secret.trim());
  }
  if (bytes > MAX_ENCODED_PARTS_BYTES) return texts;
  for (const part of [secret, ...jsonLeaves(secret)]) {
    for (const line of [part, ...part.split(/[\r\n]+/)]) if (!isUnmaskable(line)) add(line.trim());
  }
  return texts;
}
