import { type Position, positionAt } from "@steps/model/diagnostic";
import type { Value } from "@steps/model";

/** A part of a text. */
interface TextPart {
  /** The offset in the text, in UTF-16 units. */
  readonly offset: number;
  /** In UTF-16 units. */
  readonly length: number;
  /** The part as it is written; empty if that is not known. */
  readonly expression: string;
}

/** A text further on in its file than this is another one. */
const NEAR = 200;

/**
 * The place of a part of a text, as exactly as it can be told. `position` is that of the scalar that the text was written as, or of its
 * key. Where the text stands in the file as it is, the place within is known; elsewhere the part is looked for nearby.
 */
export function narrowPosition(position: Position, text: Value | undefined, part: TextPart): Position {
  const { source, offset } = position;
  if (typeof text === "string") {
    const start = source.text.indexOf(text, offset);
    if (start !== -1 && start <= offset + 2) return positionAt(source, start + part.offset, part.length);
  }
  if (part.expression === "") return position;
  const start = source.text.indexOf(part.expression, offset);
  const isNear = start !== -1 && start <= offset + Math.max(position.length, NEAR);
  return isNear ? positionAt(source, start, part.expression.length) : position;
}
