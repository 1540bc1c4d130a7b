/** A text with a name: what positions point into. */
export interface Source {
  /** A file's path as the user knows it, or `STEPS`, `<stdin>`, `<argument>`. */
  readonly name: string;
  readonly text: string;
}

/** A place in a source. Lines and columns start at 1 and count UTF-16 units; `length` is at least 1. */
export interface Position {
  readonly source: Source;
  readonly offset: number;
  readonly length: number;
  readonly line: number;
  readonly column: number;
}

/** The place `length` units long that starts at `offset`. */
export function positionAt(source: Source, offset: number, length = 1): Position {
  const start = Math.max(0, Math.min(offset, source.text.length));
  let line = 1;
  let lineStart = 0;
  for (let at = source.text.indexOf("\n"); at !== -1 && at < start; at = source.text.indexOf("\n", at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  return { source, offset: start, length: Math.max(1, length), line, column: start - lineStart + 1 };
}

/** `name:line:column` */
export function formatPosition(position: Position): string {
  return `${position.source.name}:${position.line}:${position.column}`;
}

const MAX_FRAME_WIDTH = 120;

/**
 * The line of a position with its neighbours and carets below the place, without a final newline.
 * Long lines are cut around the place; control characters are shown as `�` so that a file cannot drive a terminal.
 */
export function codeFrame(position: Position): string {
  const lines = position.source.text.split(/\r?\n/);
  const last = Math.min(lines.length, position.line + 1);
  const first = Math.max(1, position.line - 1);
  const gutter = String(last).length;
  const rows: string[] = [];
  for (let number = first; number <= last; number++) {
    const text = lines[number - 1] as string;
    if (number === lines.length && text === "" && number !== position.line) continue;
    const shift = number === position.line ? Math.max(0, position.column - Math.floor(MAX_FRAME_WIDTH / 2)) : 0;
    const mark = number === position.line ? ">" : " ";
    rows.push(
      `${mark} ${String(number).padStart(gutter)} | ${printable(text.slice(shift, shift + MAX_FRAME_WIDTH))}`.trimEnd(),
    );
    if (number === position.line) {
      const room = Math.max(
        1,
        Math.min(text.length - position.column + 1, MAX_FRAME_WIDTH - (position.column - 1 - shift)),
      );
      const carets = "^".repeat(Math.min(position.length, room));
      rows.push(`  ${" ".repeat(gutter)} | ${" ".repeat(position.column - 1 - shift)}${carets}`);
    }
  }
  return rows.join("\n");
}

function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what this removes
  return text.replaceAll("\t", " ").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "\uFFFD");
}
