/**
 * Yields the forms that JSON, XML, URLs, shells and languages give to a text inside quotes. The text itself may be
 * among them.
 */
export function* textForms(text: string): Generator<string> {
  yield* jsonForms(text);
  yield* percentForms(text);
  yield* shellForms(text);
  yield* languageForms(text);
  yield* xmlForms(text);
  yield text.replaceAll("'", "''");
  yield text.replaceAll('"', '""');
}

/** Base64 and base64url at the three alignments: the digits that the text alone determines. */
export function* base64Forms(text: string): Generator<string> {
  const bytes = Buffer.from(text);
  for (const lead of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(lead), bytes]).toString("base64");
    // Its neighbours share the first and the last.
    const determined = encoded.slice(Math.ceil((lead * 8) / 6), Math.floor(((lead + bytes.length) * 8) / 6));
    yield determined;
    yield determined.replaceAll("+", "-").replaceAll("/", "_");
  }
}

/** Hex in both cases. */
export function* hexForms(text: string): Generator<string> {
  const hex = Buffer.from(text).toString("hex");
  yield hex;
  yield hex.toUpperCase();
}

const MIN_PIECE = 4;
const WINDOW = 8;

/**
 * Yields the forms in which `od`, `xxd` and `hexdump` print bytes: each run of 8, and of the first and last run also
 * shorter parts, down to 4 bytes, since a row may end in the middle.
 */
export function* dumpForms(bytes: Uint8Array): Generator<Uint8Array> {
  const all = [...bytes];
  // Hex of `xxd -p` is broken into lines without a blank.
  yield* rows(all.map((byte) => digits(byte, 16, 2)));
  yield* rows(all.map((byte) => digits(byte, 16, 2).toUpperCase()));
  yield* rows(all.map((byte) => ` ${digits(byte, 16, 2)}`));
  yield* rows(all.map((byte) => ` ${digits(byte, 8, 3)}`));
  yield* rows(all.map((byte) => named(byte).padStart(4)));
  for (const parity of [0, 1]) {
    const pairs = all.flatMap((low, at) => (at % 2 === parity && at + 1 < all.length ? [[low, all[at + 1] ?? 0]] : []));
    const words = pairs.map(([low = 0, high = 0]) => low | (high << 8));
    yield* rows(
      words.map((word) => ` ${digits(word, 8, 6)}`),
      2,
    );
    yield* rows(
      words.map((word) => ` ${digits(word, 16, 4)}`),
      2,
    );
    yield* rows(
      pairs.map(([high = 0, low = 0]) => ` ${digits(low | (high << 8), 16, 4)}`),
      2,
    );
  }
}

/** The pieces of a row of cells, which have the same width, without the blanks in front. */
function* rows(cells: readonly string[], bytesOfCell = 1): Generator<Uint8Array> {
  const row = Buffer.from(cells.join(""));
  const width = cells[0]?.length ?? 0;
  const piece = (from: number, to: number): Uint8Array => {
    let start = from * width;
    while (row[start] === BLANK) start += 1;
    return row.subarray(start, to * width);
  };
  const window = WINDOW / bytesOfCell;
  for (let at = 0; at + window <= cells.length; at++) yield piece(at, at + window);
  for (let size = MIN_PIECE / bytesOfCell; size < Math.min(window, cells.length + 1); size++) {
    yield piece(0, size);
    yield piece(cells.length - size, cells.length);
  }
}

const BLANK = 32;

const NAMED: ReadonlyMap<number, string> = new Map([
  [0, "\\0"],
  [7, "\\a"],
  [8, "\\b"],
  [9, "\\t"],
  [10, "\\n"],
  [11, "\\v"],
  [12, "\\f"],
  [13, "\\r"],
]);

function named(byte: number): string {
  return NAMED.get(byte) ?? (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : digits(byte, 8, 3));
}

function digits(number: number, base: number, width: number): string {
  return number.toString(base).padStart(width, "0");
}

function* percentForms(text: string): Generator<string> {
  const strict = percent(text, /[A-Za-z0-9\-._~]/);
  // Percent-encoding as JavaScript does it for a component, as Python does it, as JavaScript does it for a whole
  // address, and as forms do it.
  const component = percent(text, /[A-Za-z0-9\-._~!'()*]/);
  // An apostrophe of a component does not stay in the query of a URL.
  const query = component.replaceAll("'", "%27");
  const python = percent(text, /[A-Za-z0-9\-._~/]/);
  const address = percent(text, /[A-Za-z0-9\-._~!'()*;,/?:@&=+$#]/);
  const form = percent(text, /[A-Za-z0-9\-._*]/).replaceAll("%20", "+");
  for (const encoded of [strict, component, query, python, address, form, strict.replaceAll("%20", "+")]) {
    yield encoded;
    yield encoded.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
  }
}

function percent(text: string, kept: RegExp): string {
  let encoded = "";
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte);
    encoded += kept.test(char) ? char : `%${digits(byte, 16, 2).toUpperCase()}`;
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
  yield ascii.replaceAll("/", "\\/").replace(/\\u[0-9a-f]{4}/g, (escape) => `\\u${escape.slice(2).toUpperCase()}`);
  // Go and others keep markup out of JSON.
  yield plain.replace(/[<>&]/g, unicodeEscape);
  yield plain.replace(/[<>&'+]/g, unicodeEscape);
  yield JSON.stringify(plain).slice(1, -1);
  yield JSON.stringify(ascii).slice(1, -1);
}

function unicodeEscape(char: string): string {
  return `\\u${digits(char.charCodeAt(0), 16, 4)}`;
}

// The characters that bash writes by a letter in $'…'.
const BASH_NAMES: ReadonlyMap<string, string> = new Map([
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\u001b", "\\E"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["'", "\\'"],
  ["\\", "\\\\"],
]);

function* shellForms(text: string): Generator<string> {
  yield text.replaceAll("'", "'\\''");
  yield text.replaceAll("'", `'"'"'`);
  yield text.replace(/["$`\\]/g, "\\$&");
  yield text.replace(/[^A-Za-z0-9_@%+=:,./-]/g, "\\$&");
  // bash's %q: what begins a comment or a home folder is escaped only where it does.
  const words = text.replace(/[ \t!"$&'()*,;<>?[\\\]^`{|}]/g, "\\$&").replace(/(?<=[:=])~/g, "\\~");
  yield words;
  yield words.replace(/^[#~]/, "\\$&");
  // bash's $'…', for what cannot be printed: in locales of UTF-8, whose tables differ in what that is, and in one of ASCII.
  const escape = (char: string): string => BASH_NAMES.get(char) ?? octal(char);
  const unicode = text.replace(/[\0-\u001f\u007f-\u009f'\\]/g, escape);
  yield unicode;
  yield text.replace(/[\p{C}\p{Zl}\p{Zp}'\\]/gu, escape);
  yield unicode.replace(/[^\0-\u007f]/gu, octal);
}

function octal(char: string): string {
  let escaped = "";
  for (const byte of Buffer.from(char)) escaped += `\\${digits(byte, 8, 3)}`;
  return escaped;
}

/** Yields the forms that Python's `repr()` and Node's `inspect()` print between quotes of either kind. */
function* languageForms(text: string): Generator<string> {
  const python = text.replace(/[\p{C}\p{Z}\\]/gu, pythonEscape);
  const ascii = python.replace(/[^\0-\u007f]/gu, pythonEscape);
  const bytes = Buffer.from(text)
    .toString("latin1")
    .replace(/[^ -~]|\\/g, pythonEscape);
  const node = text.replace(/[\0-\u001f\u007f-\u009f\\]|\p{Cs}/gu, nodeEscape);
  for (const form of [python, ascii, bytes, node]) {
    yield form;
    yield form.replaceAll("'", "\\'");
  }
}

const C_NAMES: ReadonlyMap<string, string> = new Map([
  [" ", " "],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\\", "\\\\"],
]);

function pythonEscape(char: string): string {
  const known = C_NAMES.get(char);
  if (known !== undefined) return known;
  const code = char.codePointAt(0) as number;
  if (code > 0xffff) return `\\U${digits(code, 16, 8)}`;
  return code > 0xff ? `\\u${digits(code, 16, 4)}` : `\\x${digits(code, 16, 2)}`;
}

function nodeEscape(char: string): string {
  if (char === "\b") return "\\b";
  if (char === "\f") return "\\f";
  const known = C_NAMES.get(char);
  if (known !== undefined) return known;
  const code = char.charCodeAt(0);
  const hex = digits(code, 16, 2).toUpperCase();
  return code > 0xff ? `\\u${hex}` : `\\x${hex}`;
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
