import { type Position, positionAt } from "@steps/model/diagnostic";

/** A place with its end. Lines and columns start at 1 and count UTF-16 units; the end is the first unit behind it. */
export interface Region {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** The region of a position. A place at the end of a text is one unit long, though nothing stands there. */
export function regionOf(position: Position): Region {
  const { source, offset, length, line, column } = position;
  // The blanks and line ends behind a block are no part of what is shown.
  const end = positionAt(source, offset + source.text.slice(offset, offset + length).trimEnd().length);
  const isEmpty = end.line === line && end.column <= column;
  return {
    startLine: line,
    startColumn: column,
    endLine: end.line,
    endColumn: isEmpty ? column + 1 : end.column,
  };
}
