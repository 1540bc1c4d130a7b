import type { Automaton } from "./automaton.ts";
import type { SecretIndex } from "./secret-index.ts";
import { createTokenScanner } from "./token-shape.ts";

/** Masks one stream of bytes, whatever the borders of its chunks. */
export interface MaskStream {
  /**
   * Returns the bytes that are certain so far. Bytes that may still begin a secret are held back, and with the end of a
   * line the whole line. The result may be a view of the chunk.
   */
  push(chunk: Uint8Array): Uint8Array;
  /** The rest, when nothing more will come. */
  end(): Uint8Array;
}

const MARK: Uint8Array = Buffer.from("[MASKED]");
const EMPTY = new Uint8Array(0);
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
// A wrapped text has one line break at a time; without a limit a stream of line breaks would be held back for ever.
const MAX_BREAKS = 4;

/** Offsets into the data at hand: `[start, end)` is secret. */
interface Span {
  start: number;
  end: number;
  /** It goes on with a secret whose first part ends where it starts, if there is one. */
  joins?: boolean;
}

/** The texts to look for. */
export interface Patterns {
  readonly automata: readonly Automaton[];
  readonly index?: SecretIndex | undefined;
}

/** Masks all of some bytes, with `findsTokens` also what has the shape of a token; the input itself when nothing is found. */
export function maskBytes(bytes: Uint8Array, { automata, index }: Patterns, findsTokens = false): Uint8Array {
  const spans: Span[] = [];
  if (findsTokens) createTokenScanner().scan(bytes, 0, (start, end) => spans.push({ start, end }));
  for (const automaton of automata) {
    automaton.scan(bytes, { start: 0, state: 0 }, (end, length) => addHit(spans, { automaton, bytes, end, length }));
  }
  const indexed: Span[] = [];
  index?.scan(bytes, { from: 0, isEnd: true }, (start, end, joins) => addSpan(indexed, { start, end, joins }));
  if (spans.length === 0 && indexed.length === 0) return bytes;
  const all = mergeSpans([...spans, ...indexed]);
  return emit(bytes, { spans: all, until: bytes.length, covered: 0, isMarked: false }).output;
}

/** Masks a stream by patterns that may change as secrets are added. */
export function createMaskStream(source: {
  readonly patterns: () => Patterns;
  readonly version: () => number;
  readonly findsTokens?: boolean;
}): MaskStream {
  const scanner = source.findsTokens === true ? createTokenScanner() : undefined;
  let tokens: Span[] = [];
  let automata: readonly Automaton[] = [];
  let index: SecretIndex | undefined;
  let version = 0;
  let states: number[] = [];
  let held: Uint8Array = EMPTY;
  let spans: Span[] = [];
  let indexed: Span[] = [];
  /** The first offset that the index has not decided about. */
  let undecided = 0;
  // Up to here, from the start of what is held, all belongs to a secret whose mark was written already.
  let covered = 0;
  /** True when the last output was a mark and nothing has followed the secret that it stands for. */
  let isMarked = false;

  const scan = (data: Uint8Array, start: number): void => {
    automata.forEach((automaton, k) => {
      states[k] = automaton.scan(data, { start, state: states[k] as number }, (end, length) =>
        addHit(spans, { automaton, bytes: data, end, length }),
      );
    });
  };

  const scanIndex = (data: Uint8Array, isEnd: boolean): void => {
    const add = (start: number, end: number, joins: boolean): void => addSpan(indexed, { start, end, joins });
    undecided = index?.scan(data, { from: undecided, isEnd }, add) ?? data.length;
  };

  const scanTokens = (data: Uint8Array, from: number): void => {
    scanner?.scan(data, from, (start, end, continued) => {
      const last = tokens.at(-1);
      if (!continued) tokens.push({ start, end });
      else if (last?.end === start) last.end = end;
      else covered = end;
    });
  };

  // New secrets may have begun in what is held back already: it is read again from its start.
  const refresh = (): void => {
    if (version === source.version()) return;
    version = source.version();
    ({ automata, index } = source.patterns());
    states = automata.map(() => 0);
    spans = [];
    indexed = [];
    undecided = 0;
    scan(held, 0);
  };

  const release = (data: Uint8Array, until: number): Uint8Array => {
    undecided -= until;
    if (spans.length === 0 && indexed.length === 0 && tokens.length === 0 && covered === 0) {
      held = tail(data, until);
      if (until > 0) isMarked = false;
      return until === data.length ? data : data.subarray(0, until);
    }
    const merged = mergeSpans([...spans, ...indexed, ...tokens]);
    const emitted = emit(data, { spans: merged, until, covered, isMarked });
    spans = spansFrom(spans, until);
    indexed = spansFrom(indexed, until);
    tokens = spansFrom(tokens, until);
    covered = Math.max(0, emitted.covered - until);
    isMarked = emitted.isMarked;
    held = tail(data, until);
    return emitted.output;
  };

  return {
    push(chunk) {
      refresh();
      if (automata.length === 0 && index === undefined && scanner === undefined) return chunk;
      const data = held.length === 0 ? chunk : concat([held, chunk]);
      scan(data, held.length);
      scanIndex(data, false);
      scanTokens(data, held.length);
      let until = undecided;
      automata.forEach((automaton, k) => {
        until = Math.min(until, holdFrom(automaton, data, states[k] as number));
      });
      return release(data, wholeLinesUntil(data, until));
    },
    end() {
      refresh();
      scanIndex(held, true);
      const output = release(held, held.length);
      states = states.map(() => 0);
      spans = [];
      indexed = [];
      tokens = [];
      covered = 0;
      isMarked = false;
      return output;
    },
  };
}

interface Hit {
  readonly automaton: Automaton;
  readonly bytes: Uint8Array;
  readonly end: number;
  readonly length: number;
}

function addHit(spans: Span[], { automaton, bytes, end, length }: Hit): void {
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
function addSpan(spans: Span[], { start, end, joins = false }: Span): void {
  const last = spans.at(-1);
  if (last !== undefined && (start < last.end || (joins && start === last.end))) last.end = Math.max(last.end, end);
  else spans.push({ start, end, joins });
}

/** The offset from which bytes may still begin a secret. */
function holdFrom(automaton: Automaton, data: Uint8Array, state: number): number {
  const depth = automaton.depth(state);
  if (!automaton.skipsBreaks || depth === 0) return data.length - depth;
  const start = walkBack(data, { end: data.length, length: depth });
  return start === -1 ? afterBreaks(data) : start;
}

// A line that has come to its end is not given in two parts, or the other stream's bytes would come between.
function wholeLinesUntil(data: Uint8Array, until: number): number {
  if (until === data.length || data.indexOf(LINE_FEED, until) === -1) return until;
  return until === 0 ? 0 : data.lastIndexOf(LINE_FEED, until - 1) + 1;
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

/** Returns the spans that were not written yet, as offsets into the remaining bytes. */
function spansFrom(spans: readonly Span[], from: number): Span[] {
  return spans
    .filter((span) => span.start >= from)
    .map(({ start, end, joins = false }) => ({ start: start - from, end: end - from, joins }));
}

/** Sorted, and what overlaps made one. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) addSpan(merged, span);
  return merged;
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
function emit(
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

/** A copy, since the caller may use its buffer again; `Buffer.slice()` would give a view. */
function tail(data: Uint8Array, from: number): Uint8Array {
  return from === data.length ? EMPTY : new Uint8Array(data.subarray(from));
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
}
