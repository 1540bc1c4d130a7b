/** The UTF-16 units a part of a pattern takes: pairs of first and last, in any order. */
export type UnitRanges = ReadonlyArray<readonly [number, number]>;

/** A test of one UTF-16 unit. */
export interface UnitSet {
  has(unit: number): boolean;
}

const LAST_UNIT = 0xffff;

/** The characters that `\d`, `\w` and `\s` match: ASCII only, as in the official runner. */
export const DIGITS: UnitRanges = [[0x30, 0x39]];
export const WORDS: UnitRanges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
export const BLANKS: UnitRanges = [
  [0x09, 0x0d],
  [0x20, 0x20],
];
export const ANY_BUT_NEWLINE: UnitRanges = complement([[0x0a, 0x0a]]);

/** All units that are not in the ranges. */
export function complement(ranges: UnitRanges): UnitRanges {
  const result: (readonly [number, number])[] = [];
  let next = 0;
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    if (first > next) result.push([next, first - 1]);
    next = Math.max(next, last + 1);
  }
  if (next <= LAST_UNIT) result.push([next, LAST_UNIT]);
  return result;
}

/** A test that takes the same time for every unit of ASCII. */
export function createUnitSet(ranges: UnitRanges): UnitSet {
  const ascii = new Uint8Array(128);
  const rest: (readonly [number, number])[] = [];
  for (const [first, last] of ranges) {
    if (first < 128) ascii.fill(1, first, Math.min(last, 127) + 1);
    if (last >= 128) rest.push([first, last]);
  }
  return {
    has: (unit) => (unit < 128 ? ascii[unit] === 1 : rest.some(([first, last]) => unit >= first && unit <= last)),
  };
}

/** Whether a unit is of a word, for `\b`. */
export function isWordUnit(unit: number): boolean {
  return WORDS.some(([first, last]) => unit >= first && unit <= last);
}
