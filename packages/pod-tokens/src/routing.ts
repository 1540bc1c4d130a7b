import { TokenError } from "./token-error.ts";

/**
 * The hints that a token gives to whoever has to find its pod, all of them whole numbers. They are no proof of anything: a forged
 * hint only chooses the pod that refuses the token.
 */
export interface Routing {
  /** The number of the pod: the letter `c` of GitLab's tokens. */
  readonly pod?: number | undefined;
  readonly organization?: number | undefined;
  readonly group?: number | undefined;
  readonly project?: number | undefined;
  /** 1 for a runner of the whole instance, 2 of a group, 3 of a project: GitLab's numbers. */
  readonly runnerKind?: number | undefined;
  readonly user?: number | undefined;
}

/** GitLab's letters in the order in which its tokens have them. */
const LETTERS = [
  ["c", "pod"],
  ["g", "group"],
  ["o", "organization"],
  ["p", "project"],
  ["t", "runnerKind"],
  ["u", "user"],
] as const satisfies readonly (readonly [string, keyof Routing])[];

/** A number as GitLab's tokens write it: in base 36, with small letters. */
function encodeNumber(name: string, value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new TokenError("TOKEN_INVALID", `The ${name} of a token must be a whole number from 0, not ${value}`);
  }
  return value.toString(36);
}

/** Reads what {@link encodeNumber} writes, in its one spelling. */
function decodeNumber(text: unknown): number | undefined {
  if (typeof text !== "string" || !/^(?:0|[1-9a-z][0-9a-z]{0,10})$/.test(text)) return undefined;
  const value = Number.parseInt(text, 36);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** The letters of a token with their numbers, sorted, without those that are absent. */
export function encodeRouting(routing: Routing): readonly (readonly [letter: string, value: string])[] {
  return LETTERS.flatMap(([letter, name]) => {
    const value = routing[name];
    return value === undefined ? [] : [[letter, encodeNumber(name, value)] as const];
  });
}

/** Reads letters with their numbers. Letters that are not known are left out; a value that is no number makes it undefined. */
export function decodeRouting(entries: Iterable<readonly [string, unknown]>): Routing | undefined {
  const values = new Map<string, unknown>();
  for (const [letter, value] of entries) {
    if (values.has(letter)) return undefined;
    values.set(letter, value);
  }
  const routing: { -readonly [Name in keyof Routing]: Routing[Name] } = {};
  for (const [letter, name] of LETTERS) {
    const text = values.get(letter);
    if (text === undefined) continue;
    const value = decodeNumber(text);
    if (value === undefined) return undefined;
    routing[name] = value;
  }
  return routing;
}
