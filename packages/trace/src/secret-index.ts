/**
 * Finds secrets by hashes of their first bytes: for sets and values that an automaton has no room for. It needs some 60 bytes
 * for each text of up to 64 bytes, whatever their number; an automaton needs 25 for each byte.
 *
 * A longer text is looked for in pieces of 64 bytes, each of which is found alone. Hashes have 64 bits and random seeds:
 * no text that was put in is ever missed, and one that was not is taken for one that was once in 2^64 times.
 */
export class SecretIndex {
  readonly #seeds = crypto.getRandomValues(new Int32Array(2));
  /** The bytes, and the pairs of bytes, that some text begins with. */
  readonly #firsts = new Uint8Array(256);
  readonly #pairs = new Uint8Array(65_536);
  /** Whether something begins with four bytes that have this hash: what nearly all of a text is passed over by. */
  #heads = new Uint8Array(MIN_HEADS);
  /** The hashes of four bytes that were put in. */
  #headHashes: number[] = [];
  #table: Table = createTable(MIN_SLOTS);
  #entries = 0;

  /** How many hashes are kept. */
  get entries(): number {
    return this.#entries;
  }

  /**
   * Puts in a text of at least 5 bytes; says whether that changes what is found.
   *
   * @throws {RangeError} when there is no room
   */
  add(text: Uint8Array): boolean {
    if (text.length <= PIECE) return this.#insert(text, 0);
    let isNew = false;
    for (let start = 0; start < text.length; start += PIECE) {
      // The last piece begins before the one in front of it has ended.
      const from = Math.min(start, text.length - PIECE);
      const piece = text.subarray(from, from + PIECE);
      if (!isBlank(piece) && this.#insert(piece, from === 0 ? 0 : JOINS)) isNew = true;
    }
    return isNew;
  }

  /**
   * Reads `bytes` from offset `from` on and tells of what begins there, in order; what lies within what was told before is left
   * out. Gives the first offset that more bytes have to decide about; with `isEnd` there is none.
   */
  scan(bytes: Uint8Array, options: { readonly from: number; readonly isEnd: boolean }, onSpan: OnSpan): number {
    const { length } = bytes;
    const heads = this.#heads;
    const mask = heads.length - 1;
    const { from, isEnd } = options;
    let covered = 0;
    let head = 0;
    for (let next = from; next < Math.min(from + HEAD_BYTES - 1, length); next++)
      head = (head << 8) | (bytes[next] as number);
    for (let at = from; at < length; at++) {
      if (at + HEAD_BYTES <= length) {
        head = (head << 8) | (bytes[at + HEAD_BYTES - 1] as number);
        if (heads[hashHead(head) & mask] === 0) continue;
      } else if (isEnd || !this.#mayBegin(bytes, at)) continue;
      const found = this.#walk(bytes, at, covered);
      if (found.needsMore && !isEnd) return at;
      if (found.length === 0) continue;
      covered = at + found.length;
      onSpan(at, covered, found.joins);
    }
    return length;
  }

  /** Whether the last bytes of a text may be the first of something. */
  #mayBegin(bytes: Uint8Array, at: number): boolean {
    const first = bytes[at] as number;
    if (this.#firsts[first] === 0) return false;
    return at + 1 === bytes.length || this.#pairs[(first << 8) | (bytes[at + 1] as number)] !== 0;
  }

  readonly #found = { length: 0, joins: false, needsMore: false };

  /** The longest text that begins at an offset and ends behind `covered`. */
  #walk(
    bytes: Uint8Array,
    at: number,
    covered: number,
  ): Readonly<{ length: number; joins: boolean; needsMore: boolean }> {
    const found = this.#found;
    found.length = 0;
    found.joins = false;
    found.needsMore = false;
    const room = bytes.length - at;
    let a = this.#seeds[0] as number;
    let b = this.#seeds[1] as number;
    let ends = 0;
    let base = PIECE;
    for (let length = 1; length <= PIECE; length++) {
      if (length > room) {
        found.needsMore = true;
        return found;
      }
      const byte = bytes[at + length - 1] as number;
      a = mixA(a, byte);
      b = mixB(b, byte);
      const isNode = length === HEAD || length === HALF;
      const mayEnd = length > base && ((ends >>> (length - base - 1)) & 1) === 1;
      if (!isNode && !mayEnd) continue;
      const slot = isNode || at + length > covered ? find(this.#table, a, b ^ length) : -1;
      const flags = slot === -1 ? 0 : (this.#table.flags[slot] as number);
      if ((flags & END) !== 0 && at + length > covered) {
        found.length = length;
        found.joins = (flags & JOINS) !== 0;
      }
      if (isNode && (flags & NODE) !== 0) {
        ends = this.#table.ends[slot] as number;
        base = length;
      } else if (isLast(ends, length - base)) {
        // Nothing longer begins like this.
        return found;
      }
    }
    return found;
  }

  #insert(text: Uint8Array, joins: number): boolean {
    const { length } = text;
    this.#insertHead(text);
    let a = this.#seeds[0] as number;
    let b = this.#seeds[1] as number;
    for (let at = 1; at <= length; at++) {
      const byte = text[at - 1] as number;
      a = mixA(a, byte);
      b = mixB(b, byte);
      if (at === length) break;
      if (at !== HEAD && at !== HALF) continue;
      const slot = this.#slotOf(a, b ^ at);
      const { flags, ends } = this.#table;
      flags[slot] = (flags[slot] as number) | NODE;
      const bit = at === HEAD && length > HALF ? HALF - HEAD : length - at;
      ends[slot] = (ends[slot] as number) | (1 << (bit - 1));
    }
    const slot = this.#slotOf(a, b ^ length);
    const known = this.#table.flags[slot] as number;
    // A text that was ever added as a whole begins a mark of its own.
    const joined = (known & END) === 0 ? joins : known & joins;
    this.#table.flags[slot] = (known & ~JOINS) | END | joined;
    return (known & END) === 0;
  }

  #insertHead(text: Uint8Array): void {
    const [first = 0, second = 0, third = 0, fourth = 0] = text;
    this.#firsts[first] = 1;
    this.#pairs[(first << 8) | second] = 1;
    const hash = hashHead((first << 24) | (second << 16) | (third << 8) | fourth);
    if (this.#heads[hash & (this.#heads.length - 1)] !== 0) return;
    this.#heads[hash & (this.#heads.length - 1)] = 1;
    if (this.#heads.length === MAX_HEADS) return;
    this.#headHashes.push(hash);
    if (this.#headHashes.length * 8 <= this.#heads.length) return;
    this.#heads = new Uint8Array(this.#heads.length * 4);
    for (const known of this.#headHashes) this.#heads[known & (this.#heads.length - 1)] = 1;
    if (this.#heads.length === MAX_HEADS) this.#headHashes = [];
  }

  /** The slot of a hash, which is made if there is none. */
  #slotOf(a: number, b: number): number {
    const known = find(this.#table, a, b);
    if (known !== -1) return known;
    if (this.#entries >= MAX_ENTRIES) throw new RangeError("The index of secrets is full");
    if (this.#entries >= this.#table.size * MAX_LOAD) this.#table = grow(this.#table);
    this.#entries += 1;
    return put(this.#table, a, b);
  }
}

export type OnSpan = (start: number, end: number, joins: boolean) => void;

/** Texts of more bytes are looked for in pieces of so many. */
const PIECE = 64;
// Hashes of so many first bytes say how long the texts are that begin with them.
const HEAD = 5;
const HALF = 32;

const HEAD_BYTES = 4;
const MIN_HEADS = 1 << 16;
const MAX_HEADS = 1 << 22;

const USED = 1;
const NODE = 2;
const END = 4;
/** A piece that is not the first: it goes on where the one before it ended. */
const JOINS = 8;

const MIN_SLOTS = 1024;
const MAX_LOAD = 0.6;
const MAX_ENTRIES = 20_000_000;

interface Table {
  /** A power of two. */
  readonly size: number;
  readonly a: Int32Array;
  readonly b: Int32Array;
  /** The lengths that end at a node, as bits: bit n stands for a text, or the next node, n + 1 bytes further on. */
  readonly ends: Int32Array;
  readonly flags: Uint8Array;
}

function createTable(size: number): Table {
  return {
    size,
    a: new Int32Array(size),
    b: new Int32Array(size),
    ends: new Int32Array(size),
    flags: new Uint8Array(size),
  };
}

function grow(table: Table): Table {
  const larger = createTable(table.size * 2);
  for (let old = 0; old < table.size; old++) {
    if (table.flags[old] === 0) continue;
    const slot = put(larger, table.a[old] as number, table.b[old] as number);
    larger.ends[slot] = table.ends[old] as number;
    larger.flags[slot] = table.flags[old] as number;
  }
  return larger;
}

function put(table: Table, a: number, b: number): number {
  let slot = startOf(table, a, b);
  while (table.flags[slot] !== 0) slot = (slot + 1) & (table.size - 1);
  table.a[slot] = a;
  table.b[slot] = b;
  table.flags[slot] = USED;
  return slot;
}

function find(table: Table, a: number, b: number): number {
  let slot = startOf(table, a, b);
  while (table.flags[slot] !== 0) {
    if (table.a[slot] === a && table.b[slot] === b) return slot;
    slot = (slot + 1) & (table.size - 1);
  }
  return -1;
}

function startOf({ size }: Table, a: number, b: number): number {
  const mixed = Math.imul(a ^ (a >>> 15) ^ Math.imul(b, 0x2c1b_3c6d), 0x297a_2d39);
  return (mixed ^ (mixed >>> 15)) & (size - 1);
}

function hashHead(head: number): number {
  const mixed = Math.imul(head, 0x9e37_79b1);
  return mixed ^ (mixed >>> 15);
}

function mixA(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x0100_0193);
}

function mixB(hash: number, byte: number): number {
  return Math.imul((hash ^ (hash >>> 15)) + byte + 1, 0x2c1b_3c6d);
}

/** Whether nothing of what a node tells is more than so many bytes further on. */
function isLast(ends: number, distance: number): boolean {
  return distance >= 32 || ends >>> distance === 0;
}

function isBlank(piece: Uint8Array): boolean {
  return piece.every((byte) => byte === 32 || (byte >= 9 && byte <= 13));
}
