/** Numbers that follow from a seed alone. */
export interface Random {
  /** A number from 0 up to, but not, 1. */
  next(): number;
  /** A whole number between the two, each included. */
  int(min: number, max: number): number;
  pick<T>(list: readonly T[]): T;
  bytes(count: number): Buffer;
  /** A text of characters of an alphabet. */
  text(count: number, alphabet: string): string;
}

/** The generator is Mulberry32: 32 bits of state, each seed another series. */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  const pick = <T>(list: readonly T[]): T => list[int(0, list.length - 1)] as T;
  return {
    next,
    int,
    pick,
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => int(0, 255))),
    text: (count, alphabet) => {
      const characters = Array.from(alphabet);
      return Array.from({ length: count }, () => pick(characters)).join("");
    },
  };
}
