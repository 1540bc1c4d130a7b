import type { Automaton } from "./automaton.ts";
import { addHit, addSpan, concat, emit, holdFrom, mergeSpans, type Span, spansFrom } from "./mask-spans.ts";
import type { SecretIndex } from "./secret-index.ts";
import type { TokenScanner, TokenShapes } from "./token-shape.ts";

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

const EMPTY = new Uint8Array(0);
const LINE_FEED = 10;

/** The texts to look for. */
export interface Patterns {
  readonly automata: readonly Automaton[];
  readonly index?: SecretIndex | undefined;
}

/** Masks all of some bytes, also what has the shape of one of the tokens; the input itself when nothing is found. */
export function maskBytes(bytes: Uint8Array, { automata, index }: Patterns, tokens?: TokenShapes): Uint8Array {
  const spans: Span[] = [];
  tokens?.scanner().scan(bytes, 0, (start, end) => spans.push({ start, end }));
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
export function createMaskStream(source: PatternSource): MaskStream {
  return new PatternMaskStream(source);
}

interface PatternSource {
  readonly patterns: () => Patterns;
  /** Grows when the patterns change. */
  readonly version: () => number;
  /** The tokens whose shapes are masked, too. */
  readonly tokens?: TokenShapes | undefined;
}

/** All offsets are from the start of what is held back. */
class PatternMaskStream implements MaskStream {
  readonly #source: PatternSource;
  readonly #scanner: TokenScanner | undefined;
  #automata: readonly Automaton[] = [];
  #index: SecretIndex | undefined;
  #version = 0;
  /** The states of the automata at the end of what is held back. */
  #states: number[] = [];
  #held: Uint8Array = EMPTY;
  /** The spans that the automata have found, that the index has, and that have the shape of tokens. */
  #spans: Span[] = [];
  #indexed: Span[] = [];
  #tokens: Span[] = [];
  /** The first offset that the index has not decided about. */
  #undecided = 0;
  /** Up to here all belongs to a secret whose mark was written already. */
  #covered = 0;
  /** True when the last output was a mark and nothing has followed the secret that it stands for. */
  #isMarked = false;

  constructor(source: PatternSource) {
    this.#source = source;
    this.#scanner = source.tokens?.scanner();
  }

  push(chunk: Uint8Array): Uint8Array {
    this.#refresh();
    if (this.#automata.length === 0 && this.#index === undefined && this.#scanner === undefined) return chunk;
    const start = this.#held.length;
    const data = start === 0 ? chunk : concat([this.#held, chunk]);
    this.#scan(data, start);
    this.#scanIndex(data, false);
    this.#scanTokens(data, start);
    return this.#release(data, wholeLinesUntil(data, this.#certainUntil(data)));
  }

  end(): Uint8Array {
    this.#refresh();
    this.#scanIndex(this.#held, true);
    const output = this.#release(this.#held, this.#held.length);
    this.#states = this.#states.map(() => 0);
    this.#spans = [];
    this.#indexed = [];
    this.#tokens = [];
    this.#covered = 0;
    this.#isMarked = false;
    return output;
  }

  // New secrets may have begun in what is held back already: it is read again from its start.
  #refresh(): void {
    const version = this.#source.version();
    if (this.#version === version) return;
    this.#version = version;
    const { automata, index } = this.#source.patterns();
    this.#automata = automata;
    this.#index = index;
    this.#states = automata.map(() => 0);
    this.#spans = [];
    this.#indexed = [];
    this.#undecided = 0;
    this.#scan(this.#held, 0);
  }

  #scan(data: Uint8Array, start: number): void {
    const spans = this.#spans;
    const states = this.#states;
    this.#automata.forEach((automaton, k) => {
      states[k] = automaton.scan(data, { start, state: states[k] as number }, (end, length) =>
        addHit(spans, { automaton, bytes: data, end, length }),
      );
    });
  }

  #scanIndex(data: Uint8Array, isEnd: boolean): void {
    const indexed = this.#indexed;
    const add = (start: number, end: number, joins: boolean): void => addSpan(indexed, { start, end, joins });
    this.#undecided = this.#index?.scan(data, { from: this.#undecided, isEnd }, add) ?? data.length;
  }

  #scanTokens(data: Uint8Array, from: number): void {
    const tokens = this.#tokens;
    this.#scanner?.scan(data, from, (start, end, continued) => {
      const last = tokens.at(-1);
      if (!continued) tokens.push({ start, end });
      else if (last?.end === start) last.end = end;
      else this.#covered = end;
    });
  }

  /** The offset of the first byte that may still begin a secret. */
  #certainUntil(data: Uint8Array): number {
    let until = this.#undecided;
    this.#automata.forEach((automaton, k) => {
      until = Math.min(until, holdFrom(automaton, data, this.#states[k] as number));
    });
    return until;
  }

  /** Gives what is before an offset, and holds the rest back. */
  #release(data: Uint8Array, until: number): Uint8Array {
    this.#undecided -= until;
    this.#held = tail(data, until);
    const found = this.#spans.length + this.#indexed.length + this.#tokens.length;
    if (found === 0 && this.#covered === 0) {
      if (until > 0) this.#isMarked = false;
      return until === data.length ? data : data.subarray(0, until);
    }
    const spans = mergeSpans([...this.#spans, ...this.#indexed, ...this.#tokens]);
    const emitted = emit(data, { spans, until, covered: this.#covered, isMarked: this.#isMarked });
    this.#spans = spansFrom(this.#spans, until);
    this.#indexed = spansFrom(this.#indexed, until);
    this.#tokens = spansFrom(this.#tokens, until);
    this.#covered = Math.max(0, emitted.covered - until);
    this.#isMarked = emitted.isMarked;
    return emitted.output;
  }
}

// A line that has come to its end is not given in two parts, or the other stream's bytes would come between.
function wholeLinesUntil(data: Uint8Array, until: number): number {
  if (until === data.length || data.indexOf(LINE_FEED, until) === -1) return until;
  return until === 0 ? 0 : data.lastIndexOf(LINE_FEED, until - 1) + 1;
}

/** A copy, since the caller may use its buffer again; `Buffer.slice()` would give a view. */
function tail(data: Uint8Array, from: number): Uint8Array {
  return from === data.length ? EMPTY : new Uint8Array(data.subarray(from));
}
