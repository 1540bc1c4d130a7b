/** A text with a name: what positions point into. */
export interface Source {
  /** A file's path as the user knows it, or `STEPS`, `<stdin>`, `<argument>`. */
  readonly name: string;
  readonly text: string;
  /** The bytes that the text was read from are not UTF-8 from here on; `offset` is the place in `text`, `byte` that in the bytes. */
  readonly malformed?: { readonly offset: number; readonly byte: number };
}

/** A place in a source. Lines and columns start at 1 and count UTF-16 units; `length` is at least 1. */
export interface Position {
  readonly source: Source;
  readonly offset: number;
  readonly length: number;
  readonly line: number;
  readonly column: number;
}

// Many diagnostics point into one large text; each would otherwise read it from its start.
const lineStartsBySource = new WeakMap<Source, Uint32Array>();

/**
 * Returns the offsets at which lines start. Lines end with `
 * ` or `\r
 * `; a `\r` alone ends none, as in YAML readers and editors.
 */
function lineStartsOf(source: Source): Uint32Array {
  const known = lineStartsBySource.get(source);
  if (known) return known;
  const { text } = source;
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  const starts = new Uint32Array(count);
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts[line++] = at + 1;
  lineStartsBySource.set(source, starts);
  return starts;
}

/** The place `length` units long that starts at `offset`; an offset outside the text is moved to its nearer end. */
export function positionAt(source: Source, offset: number, length = 1): Position {
  const start = Math.max(0, Math.min(offset, source.text.length));
  const starts = lineStartsOf(source);
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] as number) <= start) low = middle;
    else high = middle - 1;
  }
  const column = start - (starts[low] as number) + 1;
  return { source, offset: start, length: Math.max(1, length), line: low + 1, column };
}

/** `name:line:column` */
export function formatPosition(position: Position): string {
  return `${printable(position.source.name)}:${position.line}:${position.column}`;
}

const MAX_FRAME_WIDTH = 120;

/**
 * The line of a position with its neighbours and carets below the place, without a final newline.
 * Long lines are cut around the place; control characters are shown as `�` so that a file cannot drive a terminal.
 */
export function codeFrame(position: Position): string {
  const starts = lineStartsOf(position.source);
  const last = Math.min(starts.length, position.line + 1);
  const gutter = String(last).length;
  const rows: string[] = [];
  for (let number = Math.max(1, position.line - 1); number <= last; number++) {
    const isHere = number === position.line;
    const { from, to } = lineRange(position.source, number);
    if (number === starts.length && from === to && !isHere) continue;
    const shift = isHere ? Math.max(0, position.column - Math.floor(MAX_FRAME_WIDTH / 2)) : 0;
    const text = position.source.text.slice(from + shift, Math.min(to, from + shift + MAX_FRAME_WIDTH));
    rows.push(`${isHere ? ">" : " "} ${String(number).padStart(gutter)} | ${printable(text)}`.trimEnd());
    if (isHere) {
      const before = position.column - 1 - shift;
      const room = Math.max(1, Math.min(to - from - position.column + 1, MAX_FRAME_WIDTH - before));
      rows.push(`  ${" ".repeat(gutter)} | ${" ".repeat(before)}${"^".repeat(Math.min(position.length, room))}`);
    }
  }
  return rows.join("\n");
}

/** Start and end of a line's text, without its line end. */
function lineRange(source: Source, line: number): { readonly from: number; readonly to: number } {
  const starts = lineStartsOf(source);
  const from = starts[line - 1] as number;
  const next = starts[line];
  if (next === undefined) return { from, to: source.text.length };
  const end = next - 1;
  return { from, to: end > from && source.text[end - 1] === "\r" ? end - 1 : end };
}

// Control characters, and those that turn the direction of text or break lines in some viewers.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text on one line as a terminal may be given it: tabs as spaces, what drives a terminal as `\uFFFD`. */
export function printable(text: string): string {
  return text.replaceAll("\t", " ").replaceAll(UNPRINTABLE, "\uFFFD");
}

/** A name from a file, in quotes, as messages show it: at most 80 characters, without those that drive a terminal. */
export function quote(name: string): string {
  return `"${printable(name.length > 80 ? `${name.slice(0, 79)}…` : name)}"`;
}
