/** The bytes from `start` up to but not including `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a request's `Content-Range`: `bytes 0-99/100`, with `*` or nothing for the total. An empty file is
 * `bytes 0--1/0`, as the artifact client writes it. Undefined when it says something that cannot be.
 */
export function parseContentRange(header: string | undefined): (ByteRange & { total: number | undefined }) | undefined {
  const match = /^bytes (\d{1,15})-(-?\d{1,15})(?:\/(\*|\d{1,15}))?$/.exec(header ?? "");
  if (match === null) return undefined;
  const [start, end] = [Number(match[1]), Number(match[2]) + 1];
  const total = match[3] === undefined || match[3] === "*" ? undefined : Number(match[3]);
  if (end < start || (total !== undefined && end > total)) return undefined;
  return { start, end, total };
}

/**
 * Reads a request's `Range` over a content of `size` bytes. `whole` for none and for what RFC 9110 lets a server ignore
 * (several ranges, other units), undefined for a range of which nothing is there (416).
 */
export function parseRange(header: string | undefined, size: number): ByteRange | "whole" | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "");
  if (match === null || (match[1] === "" && match[2] === "")) return "whole";
  if (match[1] === "") {
    const length = Math.min(Number(match[2]), size);
    return length === 0 ? undefined : { start: size - length, end: size };
  }
  const start = Number(match[1]);
  const last = match[2] === "" ? size - 1 : Number(match[2]);
  if (match[2] !== "" && last < start) return "whole";
  return start >= size ? undefined : { start, end: Math.min(last + 1, size) };
}

/** Adds a range to a sorted list of ranges that do not touch, in place. */
export function addRange(ranges: ByteRange[], range: ByteRange): void {
  if (range.end === range.start) return;
  let { start, end } = range;
  const first = ranges.findIndex((other) => other.end >= start);
  if (first === -1) {
    ranges.push({ start, end });
    return;
  }
  let after = first;
  for (let other = ranges[after]; other !== undefined && other.start <= end; other = ranges[after]) {
    start = Math.min(start, other.start);
    end = Math.max(end, other.end);
    after += 1;
  }
  ranges.splice(first, after - first, { start, end });
}

/** Whether the ranges are all of the first `size` bytes and nothing else. */
export function isCovered(ranges: readonly ByteRange[], size: number): boolean {
  if (size === 0) return ranges.length === 0;
  return ranges.length === 1 && ranges[0]?.start === 0 && ranges[0].end === size;
}
