/** What to look for to find one secret: itself, its parts and their usual encodings. */
export interface SecretForms {
  readonly patterns: readonly string[];
  /** Base64 long enough to be wrapped by the tools that write it: looked for across line breaks too. */
  readonly wrapped: readonly string[];
}

/** Below this many bytes a secret is not looked for at all: masking it would ruin the log. */
export const MIN_SECRET_BYTES = 5;
/** From this many bytes on its encodings are looked for as well. */
const MIN_ENCODED_BYTES = 8;
const MIN_FORM_LENGTH = 6;
const MIN_WRAPPED_LENGTH = 40;
/** Above this a secret is looked for as it is and line by line, not in its encodings. */
const MAX_ENCODED_BYTES = 65_536;
const MAX_ENCODED_PARTS_BYTES = 16_384;
const MAX_PARTS = 2000;

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
  return Buffer.byteLength(trimmed) < MIN_SECRET_BYTES || STOP_LIST.has(trimmed.toLowerCase());
}

/**
 * All forms in which a secret is looked for (`trace-and-security` 2.7): the value, trimmed, each line, each string
 * inside if it is JSON; of 8 bytes and more also base64 and base64url at the three alignments, hex, percent-encoding,
 * and the escapes of JSON, XML, shells and PowerShell.
 */
export function secretForms(secret: string): SecretForms {
  const patterns = new Set<string>([secret, secret.trim()]);
  const wrapped = new Set<string>();
  const bytes = Buffer.byteLength(secret);
  const encode = (text: string): void => {
    if (Buffer.byteLength(text) < MIN_ENCODED_BYTES) return;
    for (const form of escapes(text)) if (form.length >= MIN_FORM_LENGTH) patterns.add(form);
    for (const form of base64Forms(text)) {
      if (form.length >= MIN_FORM_LENGTH) patterns.add(form);
      if (form.length >= MIN_WRAPPED_LENGTH) wrapped.add(form);
    }
  };
  if (bytes <= MAX_ENCODED_BYTES) {
    encode(secret);
    encode(secret.trim());
  }
  for (const part of partsOf(secret)) {
    patterns.add(part);
    if (bytes <= MAX_ENCODED_PARTS_BYTES) encode(part);
  }
  return { patterns: [...patterns], wrapped: [...wrapped] };
}

function partsOf(secret: string): string[] {
  const parts = [...linesOf(secret), ...jsonLeaves(secret)].map((part) => part.trim());
  const usable = parts.filter((part) => Buffer.byteLength(part) >= MIN_FORM_LENGTH && !isUnmaskable(part));
  return usable.slice(0, MAX_PARTS);
}

function linesOf(secret: string): string[] {
  return /[\r\n]/.test(secret) ? secret.split(/[\r\n]+/) : [];
}

function jsonLeaves(secret: string): string[] {
  if (!/^\s*[[{"]/.test(secret)) return [];
  const leaves: string[] = [];
  try {
    JSON.parse(secret, (_, value: unknown) => {
      if (typeof value === "string" && leaves.length < MAX_PARTS) leaves.push(value);
      return null;
    });
  } catch (cause) {
    void cause;
    return [];
  }
  return leaves;
}

function* base64Forms(text: string): Generator<string> {
  const bytes = Buffer.from(text);
  for (const lead of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(lead), bytes]).toString("base64");
    // Only the digits that the secret alone determines; its neighbours share the first and the last.
    const determined = encoded.slice(Math.ceil((lead * 8) / 6), Math.floor(((lead + bytes.length) * 8) / 6));
    yield determined;
    yield determined.replaceAll("+", "-").replaceAll("/", "_");
  }
}

function* escapes(text: string): Generator<string> {
  const hex = Buffer.from(text).toString("hex");
  yield hex;
  yield hex.toUpperCase();
  yield* percentForms(text);
  yield* jsonForms(text);
  yield* xmlForms(text);
  yield text.replaceAll("'", "'\\''");
  yield text.replaceAll("'", `'"'"'`);
  yield text.replace(/[^A-Za-z0-9_@%+=:,./-]/g, "\\$&");
  yield text.replace(/["$`\\]/g, "\\$&");
  yield text.replaceAll("'", "''");
  yield text.replaceAll('"', '""');
}

function* percentForms(text: string): Generator<string> {
  const strict = percent(text, /[A-Za-z0-9\-._~]/);
  // What JavaScript leaves as it is, and what a form leaves as it is.
  const loose = percent(text, /[A-Za-z0-9\-._~!'()*]/);
  const form = percent(text, /[A-Za-z0-9\-._*]/).replaceAll("%20", "+");
  for (const encoded of [strict, loose, form, strict.replaceAll("%20", "+")]) {
    yield encoded;
    yield encoded.replace(/%[0-9A-F]{2}/g, (digits) => digits.toLowerCase());
  }
}

function percent(text: string, kept: RegExp): string {
  let encoded = "";
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte);
    encoded += kept.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}

function* jsonForms(text: string): Generator<string> {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = plain.replace(/[\u007f-\uffff]/g, unicodeEscape);
  yield plain;
  yield ascii;
  yield plain.replaceAll("/", "\\/");
  yield ascii.replaceAll("/", "\\/");
  yield ascii.replaceAll("/", "\\/").replace(/\\u[0-9a-f]{4}/g, (digits) => `\\u${digits.slice(2).toUpperCase()}`);
  // Go and others keep markup out of JSON.
  yield plain.replace(/[<>&]/g, unicodeEscape);
  yield plain.replace(/[<>&'+]/g, unicodeEscape);
  yield JSON.stringify(plain).slice(1, -1);
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function* xmlForms(text: string): Generator<string> {
  const body = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  yield body;
  for (const [quote, apostrophe] of [
    ["&quot;", "'"],
    ["&quot;", "&apos;"],
    ["&quot;", "&#39;"],
    ["&quot;", "&#x27;"],
    ["&#34;", "&#39;"],
  ] as const) {
    yield body.replaceAll('"', quote).replaceAll("'", apostrophe);
  }
}
