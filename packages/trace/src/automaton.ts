/** Finds every occurrence of many patterns in one pass over bytes (Aho-Corasick). */
export interface Automaton {
  /** The number of states of the trie, as a measure of its size. */
  readonly stateCount: number;
  readonly patterns: readonly Uint8Array[];
  /** The longest pattern, in bytes. */
  readonly maxLength: number;
  /** Line breaks in the text are skipped: patterns are found also where the text was wrapped. */
  readonly skipsBreaks: boolean;
  /** How many bytes before the end, line breaks not counted, may still begin a pattern. */
  depth(state: number): number;
  /**
   * Reads `bytes` from `start` on, beginning in `state` (0 at first). Calls `onHit(end, length)` for the longest pattern
   * that ends before offset `end`; returns the state.
   */
  scan(bytes: Uint8Array, from: { readonly start: number; readonly state: number }, onHit: OnHit): number;
  /** `scan()` over a string from its first character; -1 as soon as one is not ASCII. */
  scanText(text: string, onHit: OnHit): number;
}

type OnHit = (end: number, length: number) => void;

// States with a full row of transitions; the shallow ones, where nearly all of a text is spent.
const MAX_DENSE_CELLS = 1 << 21;
const HIT = 0x8000_0000 | 0;
const STATE = 0x7fff_ffff;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

interface Trie {
  readonly firstChild: Int32Array;
  readonly sibling: Int32Array;
  readonly byte: Uint8Array;
  /** Length of the pattern that ends here; after linking, of the longest that is a suffix of the state. */
  readonly longest: Int32Array;
  readonly depth: Int32Array;
  readonly fail: Int32Array;
  readonly size: number;
}

/** Builds the automaton of some patterns; none of them empty. */
export function createAutomaton(
  patterns: readonly Uint8Array[],
  options: { readonly skipsBreaks?: boolean } = {},
): Automaton {
  const skipsBreaks = options.skipsBreaks === true;
  const trie = linkTrie(sortBreadthFirst(buildTrie(patterns)));
  const dense = denseRows(trie, skipsBreaks);
  const { classes, width, table, rows } = dense;
  let maxLength = 0;
  for (const pattern of patterns) maxLength = Math.max(maxLength, pattern.length);
  const step = (state: number, byte: number): number => {
    if (skipsBreaks && (byte === LINE_FEED || byte === CARRIAGE_RETURN)) return state;
    let at = state;
    while (at >= rows) {
      const child = childOf(trie, at, byte);
      if (child !== -1) return (trie.longest[child] as number) > 0 ? child | HIT : child;
      at = trie.fail[at] as number;
    }
    return table[at * width + (classes[byte] as number)] as number;
  };
  return {
    stateCount: trie.size,
    patterns,
    maxLength,
    skipsBreaks,
    depth: (state) => trie.depth[state] as number,
    scan(bytes, { start, state }, onHit) {
      let at = state;
      for (let i = start; i < bytes.length; i++) {
        const byte = bytes[i] as number;
        const next = at < rows ? (table[at * width + (classes[byte] as number)] as number) : step(at, byte);
        at = next & STATE;
        if (next < 0) onHit(i + 1, trie.longest[at] as number);
      }
      return at;
    },
    scanText(text, onHit) {
      let at = 0;
      for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i);
        if (code > 127) return -1;
        const next = at < rows ? (table[at * width + (classes[code] as number)] as number) : step(at, code);
        at = next & STATE;
        if (next < 0) onHit(i + 1, trie.longest[at] as number);
      }
      return at;
    },
  };
}

function buildTrie(patterns: readonly Uint8Array[]): Trie {
  let limit = 1;
  for (const pattern of patterns) limit += pattern.length;
  const trie = allocate(limit);
  let size = 1;
  for (const pattern of patterns) {
    let at = 0;
    for (const byte of pattern) {
      let child = childOf(trie, at, byte);
      if (child === -1) {
        child = size++;
        trie.byte[child] = byte;
        trie.depth[child] = (trie.depth[at] as number) + 1;
        trie.sibling[child] = trie.firstChild[at] as number;
        trie.firstChild[at] = child;
      }
      at = child;
    }
    trie.longest[at] = pattern.length;
  }
  return { ...trie, size };
}

function allocate(size: number): Trie {
  return {
    firstChild: new Int32Array(size).fill(-1),
    sibling: new Int32Array(size).fill(-1),
    byte: new Uint8Array(size),
    longest: new Int32Array(size),
    depth: new Int32Array(size),
    fail: new Int32Array(size),
    size,
  };
}

function childOf(trie: Trie, state: number, byte: number): number {
  let child = trie.firstChild[state] as number;
  while (child !== -1 && trie.byte[child] !== byte) child = trie.sibling[child] as number;
  return child;
}

/** Renumbers the states so that a shallower one always has the lower number. */
function sortBreadthFirst(trie: Trie): Trie {
  const order = new Int32Array(trie.size);
  const renamed = new Int32Array(trie.size);
  let end = 1;
  for (let at = 0; at < end; at++) {
    renamed[order[at] as number] = at;
    for (let child = trie.firstChild[order[at] as number] as number; child !== -1;) {
      order[end++] = child;
      child = trie.sibling[child] as number;
    }
  }
  const sorted = allocate(trie.size);
  for (let at = 0; at < trie.size; at++) {
    const old = order[at] as number;
    const rename = (state: number): number => (state === -1 ? -1 : (renamed[state] as number));
    sorted.firstChild[at] = rename(trie.firstChild[old] as number);
    sorted.sibling[at] = rename(trie.sibling[old] as number);
    sorted.byte[at] = trie.byte[old] as number;
    sorted.longest[at] = trie.longest[old] as number;
    sorted.depth[at] = trie.depth[old] as number;
  }
  return sorted;
}

function linkTrie(trie: Trie): Trie {
  for (let at = 0; at < trie.size; at++) {
    for (let child = trie.firstChild[at] as number; child !== -1; child = trie.sibling[child] as number) {
      const byte = trie.byte[child] as number;
      let fallback = at;
      let found = -1;
      while (fallback !== 0 && found === -1) {
        fallback = trie.fail[fallback] as number;
        found = childOf(trie, fallback, byte);
      }
      const fail = found === -1 ? 0 : found;
      trie.fail[child] = fail;
      if (trie.longest[child] === 0) trie.longest[child] = trie.longest[fail] as number;
    }
  }
  return trie;
}

interface DenseRows {
  readonly classes: Uint8Array;
  readonly width: number;
  readonly table: Int32Array;
  /** How many states have a row. */
  readonly rows: number;
}

// Bytes that no pattern holds share class 0, so that a row is as short as the patterns' alphabet.
function denseRows(trie: Trie, skipsBreaks: boolean): DenseRows {
  const classes = new Uint8Array(256);
  let width = 1;
  const add = (byte: number): void => {
    // With all 256 bytes in use, class 0 is left to the last of them.
    if (classes[byte] === 0 && width < 256) classes[byte] = width++;
  };
  if (skipsBreaks) [LINE_FEED, CARRIAGE_RETURN].forEach(add);
  for (let at = 1; at < trie.size; at++) add(trie.byte[at] as number);
  const rows = Math.max(1, Math.min(trie.size, Math.floor(MAX_DENSE_CELLS / width)));
  const table = new Int32Array(rows * width);
  for (let at = 0; at < rows; at++) {
    if (at > 0)
      table.copyWithin(at * width, (trie.fail[at] as number) * width, (trie.fail[at] as number) * width + width);
    for (let child = trie.firstChild[at] as number; child !== -1; child = trie.sibling[child] as number) {
      const hit = (trie.longest[child] as number) > 0 ? HIT : 0;
      table[at * width + (classes[trie.byte[child] as number] as number)] = child | hit;
    }
    if (skipsBreaks) {
      table[at * width + (classes[LINE_FEED] as number)] = at;
      table[at * width + (classes[CARRIAGE_RETURN] as number)] = at;
    }
  }
  return { classes, width, table, rows };
}
