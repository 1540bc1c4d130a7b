import type { Automaton } from "./automaton.ts";

const MARK: Uint8Array = Buffer.from("[MASKED]");
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
// A wrapped text has one line break at a time; without a limit a stream of line breaks would be held back for ever.
const MAX_BREAKS = 4;

/** Offsets into the data at hand: `[start, end)` is secret. */
export interface Span {
  start: number;
  end: number;
  /** It goes on with a secret whose first part ends where it starts, if there is one. */
  joins?: boolean;
}

interface Hit {
  readonly automaton: Automaton;
  readonly bytes: Uint8Array;
  readonly end: number;
  readonly length: number;
}

/** Adds what an automaton has found. The spans that end inside of it become one with it. */
export function addHit(spans: Span[], { automaton, bytes, end, length }: Hit): void {
  const start = automaton.skipsBreaks ? walkBack(bytes, { end, length }) : end - length;
  if (start < 0) return;
  let last = spans.at(-1);
  let merged = start;
  while (last !== undefined && last.end > merged && last.end <= end) {
    merged = Math.min(merged, last.start);
    spans.pop();
    last = spans.at(-1);
  }
  spans.push({ start: merged, end });
}

/** Adds a span that starts behind the start of those before it. */
export function addSpan(spans: Span[], { start, end, joins = false }: Span): void {
  const last = spans.at(-1);
  if (last !== undefined && (start < last.end || (joins && start === last.end))) last.end = Math.max(last.end, end);
  else spans.push({ start, end, joins });
}

/** Sorted, and what overlaps made one. */
export function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) addSpan(merged, span);
  return merged;
}

/** Returns the spans that were not written yet, as offsets into the remaining bytes. */
export function spansFrom(spans: readonly Span[], from: number): Span[] {
  return spans
    .filter((span) => span.start >= from)
    .map(({ start, end, joins = false }) => ({ start: start - from, end: end - from, joins }));
}

interface Emission {
  readonly spans: readonly Span[];
  readonly until: number;
  readonly covered: number;
  readonly isMarked: boolean;
}

/**
 * Writes `data` up to `until`, a mark for each span that starts before. Afterwards `covered` is where the last of them ends, and
 * `isMarked` whether that is where the writing ended or behind it.
 */
export function emit(
  data: Uint8Array,
  { spans, until, covered, isMarked }: Emission,
): { readonly output: Uint8Array; readonly covered: number; readonly isMarked: boolean } {
  const parts: Uint8Array[] = [];
  let at = covered;
  let follows = isMarked;
  for (const { start, end, joins } of spans) {
    if (start >= until) break;
    if (start > at) parts.push(data.subarray(at, start));
    if (start > at || (start === at && !(joins === true && follows))) parts.push(MARK);
    at = Math.max(at, end);
    follows = true;
  }
  if (at < until) {
    parts.push(data.subarray(at, until));
    follows = false;
  }
  return { output: concat(parts), covered: at, isMarked: follows };
}

/** The offset from which bytes may still begin a secret. */
export function holdFrom(automaton: Automaton, data: Uint8Array, state: number): number {
  const depth = automaton.depth(state);
  if (!automaton.skipsBreaks || depth === 0) return data.length - depth;
  const start = walkBack(data, { end: data.length, length: depth });
  return start === -1 ? afterBreaks(data) : start;
}

/** The offset of the `length`-th byte before `end` that is no line break; -1 if too many line breaks are between. */
function walkBack(bytes: Uint8Array, { end, length }: { readonly end: number; readonly length: number }): number {
  let left = length;
  let breaks = 0;
  for (let i = end - 1; i >= 0; i--) {
    const byte = bytes[i];
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
      breaks += 1;
      if (breaks > MAX_BREAKS) return -1;
    } else {
      breaks = 0;
      left -= 1;
      if (left === 0) return i;
    }
  }
  return -1;
}

/** Returns the offset at which the bytes after the last long run of line breaks begin. */
function afterBreaks(bytes: Uint8Array): number {
  let breaks = 0;
  for (let i = bytes.length - 1; i >= 0; i--) {
    const isBreak = bytes[i] === LINE_FEED || bytes[i] === CARRIAGE_RETURN;
    breaks = isBreak ? breaks + 1 : 0;
    if (breaks > MAX_BREAKS) return i + breaks;
  }
  return 0;
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
}
