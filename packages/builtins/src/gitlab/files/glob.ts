import { invalid } from "../../images/builtin-images.ts";

/** A pattern for paths, in the language of doublestar v4, which GitLab's runner uses: `**`, `*`, `?`, `[a-z]`, `{a,b}`, `\`. */
export interface Glob {
  /** The patterns that have to be matched before any name was. */
  readonly start: GlobState;
  /** The patterns that are left once one more part of a path is known; empty where nothing can match any more. */
  readonly next: (state: GlobState, part: string) => GlobState;
  /** Whether everything is matched. */
  readonly isMatch: (state: GlobState) => boolean;
}

/** The places in a pattern that a path has got to. */
type GlobState = ReadonlySet<number>;

type PartMatcher = "**" | ((part: string) => boolean);

const MAX_ALTERNATIVES = 1000;

/**
 * Reads a pattern: relative, with slashes. `**` as a whole part stands for any number of folders, also none; elsewhere it
 * is a `*`. No wildcard matches a slash; all of them match a leading dot.
 *
 * @throws {BuiltinError} BUILTIN_FAILED for a class or braces without end, or more than 1000 alternatives
 */
export function readGlob(pattern: string): Glob {
  const alternatives = expandBraces(pattern).map((text) =>
    text.split("/").map((part): PartMatcher => (part === "**" ? part : readPart(part, pattern))),
  );
  // A place is the number of parts that are matched; those of each alternative have numbers of their own.
  const width = Math.max(...alternatives.map(({ length }) => length)) + 1;
  const partAt = (place: number): PartMatcher | undefined => alternatives[Math.floor(place / width)]?.[place % width];
  const settle = (places: Iterable<number>): GlobState => {
    const state = new Set<number>();
    for (let place of places) {
      state.add(place);
      while (partAt(place) === "**") state.add((place += 1));
    }
    return state;
  };
  return {
    start: settle(alternatives.map((_, index) => index * width)),
    next(state, name) {
      const places: number[] = [];
      for (const place of state) {
        const part = partAt(place);
        if (part === "**") places.push(place);
        else if (part?.(name) === true) places.push(place + 1);
      }
      return settle(places);
    },
    isMatch(state) {
      for (const place of state) if (place % width === alternatives[Math.floor(place / width)]?.length) return true;
      return false;
    },
  };
}

/** Whether a pattern matches a relative path. */
export function matchesGlob(glob: Glob, path: string): boolean {
  return glob.isMatch(path.split("/").reduce(glob.next, glob.start));
}

/** The parts of a pattern before the first that is more than a name, without escapes. */
export function literalStart(pattern: string): string[] {
  const parts = pattern.split("/");
  const end = parts.findIndex((part) => /[*?[{\\]/.test(part));
  return end === -1 ? parts : parts.slice(0, end);
}

/** All texts that the braces of a pattern stand for. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const pending = [pattern];
  while (pending.length > 0) {
    const text = pending.pop() as string;
    const braces = firstBraces(text);
    if (braces === undefined) done.push(text);
    else {
      const { start, end, options } = braces;
      pending.push(...options.map((option) => `${text.slice(0, start)}${option}${text.slice(end + 1)}`));
    }
    if (done.length + pending.length > MAX_ALTERNATIVES) {
      throw invalid(`the pattern "${pattern}" has more than ${MAX_ALTERNATIVES} alternatives`);
    }
  }
  return done;
}

function firstBraces(text: string): { start: number; end: number; options: string[] } | undefined {
  let start = -1;
  let depth = 0;
  let from = 0;
  const options: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if (char === "[") at = Math.max(at, endOfClass(text, at));
    else if (char === "{") {
      depth += 1;
      if (depth === 1) [start, from] = [at, at + 1];
    } else if (char === "," && depth === 1) {
      options.push(text.slice(from, at));
      from = at + 1;
    } else if (char === "}" && depth > 0) {
      depth -= 1;
      if (depth === 0) return { start, end: at, options: [...options, text.slice(from, at)] };
    }
  }
  if (depth > 0) throw invalid(`the pattern "${text}" has a "{" without end`);
  return undefined;
}

type Token = "*" | ((char: string) => boolean);

function readPart(part: string, pattern: string): (name: string) => boolean {
  if (!/[*?[\\]/.test(part)) return (name) => name === part;
  const tokens: Token[] = [];
  for (let at = 0; at < part.length;) {
    const char = String.fromCodePoint(part.codePointAt(at) as number);
    at += char.length;
    if (char === "*") {
      if (tokens.at(-1) !== "*") tokens.push("*");
    } else if (char === "?") tokens.push(() => true);
    else if (char === "[") {
      const end = endOfClass(part, at - 1);
      if (end === -1) throw invalid(`the pattern "${pattern}" has a class "[" that is empty or without end`);
      tokens.push(readClass(part.slice(at, end)));
      at = end + 1;
    } else {
      const literal = char === "\\" ? String.fromCodePoint(part.codePointAt(at) ?? 0x5c) : char;
      if (char === "\\") at += literal.length;
      tokens.push((other) => other === literal);
    }
  }
  return (name) => matchTokens(tokens, Array.from(name));
}

/** The place of the `]` that ends a class, or -1. */
function endOfClass(text: string, start: number): number {
  const first = /[!^]/.test(text[start + 1] ?? "") ? start + 2 : start + 1;
  for (let at = first; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "]") return at === first ? -1 : at;
  }
  return -1;
}

function readClass(body: string): (char: string) => boolean {
  const isNegated = /^[!^]/.test(body);
  const chars = Array.from(body.slice(isNegated ? 1 : 0));
  const ranges: [number, number][] = [];
  const take = (): number => {
    const char = chars.shift() as string;
    return ((char === "\\" ? chars.shift() : undefined) ?? char).codePointAt(0) as number;
  };
  while (chars.length > 0) {
    const low = take();
    const isRange = chars[0] === "-" && chars.length > 1;
    if (isRange) chars.shift();
    ranges.push([low, isRange ? take() : low]);
  }
  return (char) => {
    const code = char.codePointAt(0) as number;
    return ranges.some(([low, high]) => low <= code && code <= high) !== isNegated;
  };
}

/** In time that grows with the product of both lengths at most: after a mismatch only the last `*` takes one character more. */
function matchTokens(tokens: readonly Token[], chars: readonly string[]): boolean {
  let token = 0;
  let char = 0;
  let star: { readonly token: number; char: number } | undefined;
  while (char < chars.length) {
    const current = tokens[token];
    if (current === "*") {
      star = { token, char };
      token += 1;
    } else if (current?.(chars[char] as string) === true) {
      token += 1;
      char += 1;
    } else if (star !== undefined) {
      star.char += 1;
      [token, char] = [star.token + 1, star.char];
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === "*");
}
