import type { Position, Source } from "@steps/model";

/** A piece of a source. */
export interface Span {
  readonly source: Source;
  readonly offset: number;
  readonly length: number;
}

const lineStarts = new WeakMap<Source, readonly number[]>();

/** The position of a piece of a source; the lines of a source are counted once. */
export function spanPosition({ source, offset, length }: Span): Position {
  let starts = lineStarts.get(source);
  if (starts === undefined) {
    const found = [0];
    for (let at = source.text.indexOf("\n"); at !== -1; at = source.text.indexOf("\n", at + 1)) found.push(at + 1);
    lineStarts.set(source, (starts = found));
  }
  const start = Math.max(0, Math.min(offset, source.text.length));
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= start) low = middle;
    else high = middle - 1;
  }
  return {
    source,
    offset: start,
    length: Math.max(1, length),
    line: low + 1,
    column: start - (starts[low] as number) + 1,
  };
}
