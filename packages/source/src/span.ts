import { type Position, positionAt, type Source } from "@steps/model/diagnostic";

/** A piece of a source. */
export interface Span {
  /** The text that `offset` counts in. */
  readonly source: Source;
  /** The start of the piece, in UTF-16 units from the start of the source. */
  readonly offset: number;
  /** The length of the piece in UTF-16 units; 0 for a piece that is empty. */
  readonly length: number;
}

/** The position of a piece of a source. A position is at least one unit long. */
export function spanPosition({ source, offset, length }: Span): Position {
  return positionAt(source, offset, length);
}
