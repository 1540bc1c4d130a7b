import { expandBraces } from "./brace-expand.ts";

/** Longest pattern, in UTF-16 units. */
const MAX_LENGTH = 4096;

/** A pattern of paths that is ready to be compared. */
export type Glob = (path: string) => boolean;

/** How many steps comparisons may still take together. Once there are none, nothing matches any more. */
export interface Work {
  left: number;
}

/**
 * A pattern of paths as GitLab compares it: Ruby's `File.fnmatch` with `FNM_PATHNAME`, `FNM_DOTMATCH` and `FNM_EXTGLOB`. `*` and `?`
 * stay within a folder and take leading dots, `[a-z]` and `[!a-z]` are sets, `**` followed by a slash is any number of folders,
 * also none, and is `*` elsewhere; `{a,b}` are alternatives; `\` takes the meaning from the next character. `undefined` when the
 * pattern is too long or has too many alternatives.
 */
export function createGlob(pattern: string, work: Work): Glob | undefined {
  if (pattern.length > MAX_LENGTH) return undefined;
  const patterns = expandBraces(pattern);
  return patterns === undefined ? undefined : (path) => patterns.some((one) => matchPath(one, path, work));
}

/** The position of a comparison in the pattern and in the path. */
interface Cursor {
  p: number;
  s: number;
}

function matchPath(pattern: string, path: string, work: Work): boolean {
  const at: Cursor = { p: 0, s: 0 };
  // The position at which the last `**/` can be tried again, one folder further.
  let again: Cursor | undefined;
  while (work.left > 0) {
    if (pattern.startsWith("**/", at.p)) {
      while (pattern.startsWith("**/", at.p)) at.p += 3;
      again = { ...at };
    }
    if (matchName({ pattern, path, at, work })) {
      at.s = endOfName(path, at.s);
      const hasMore = { pattern: at.p < pattern.length, path: at.s < path.length };
      if (hasMore.pattern && hasMore.path) {
        at.p += 1;
        at.s += 1;
        continue;
      }
      if (!hasMore.pattern && !hasMore.path) return true;
    }
    if (again === undefined) return false;
    const next = endOfName(path, again.s);
    if (next >= path.length) return false;
    again.s = next + 1;
    Object.assign(at, again);
  }
  return false;
}

function endOfName(text: string, from: number): number {
  const slash = text.indexOf("/", from);
  return slash === -1 ? text.length : slash;
}

interface Comparison {
  readonly pattern: string;
  readonly path: string;
  readonly at: Cursor;
  readonly work: Work;
}

/** Compares one name of the path, from the cursor, which it leaves at the end of what it compared. */
function matchName({ pattern, path, at, work }: Comparison): boolean {
  // The position at which the last `*` can be tried again, one character further.
  let again: Cursor | undefined;
  while (work.left > 0) {
    work.left -= 1;
    if (pattern[at.p] === "*") {
      while (pattern[at.p] === "*") at.p += 1;
      const rest = unescaped(pattern, at.p);
      if (isEnd(pattern, rest)) {
        at.p = rest;
        return true;
      }
      if (isEnd(path, at.s)) return false;
      again = { ...at };
      continue;
    }
    if (isEnd(path, at.s)) {
      if (pattern[at.p] === "?" || pattern[at.p] === "[") return false;
      at.p = unescaped(pattern, at.p);
      return isEnd(pattern, at.p);
    }
    if (matchCharacter({ pattern, path, at, work })) continue;
    if (again === undefined) return false;
    again.s += 1;
    Object.assign(at, again);
  }
  return false;
}

function isEnd(text: string, at: number): boolean {
  return at >= text.length || text[at] === "/";
}

function unescaped(pattern: string, at: number): number {
  return pattern[at] === "\\" ? at + 1 : at;
}

function matchCharacter({ pattern, path, at, work }: Comparison): boolean {
  const character = characterAt(path, at.s);
  if (pattern[at.p] === "?") {
    at.p += 1;
    at.s += character.length;
    return true;
  }
  if (pattern[at.p] === "[") {
    const end = matchSet(pattern, at.p + 1, { character, work });
    if (end === undefined) return false;
    at.p = end;
    at.s += character.length;
    return true;
  }
  at.p = unescaped(pattern, at.p);
  if (isEnd(pattern, at.p) || pattern[at.p] !== path[at.s]) return false;
  at.p += 1;
  at.s += 1;
  return true;
}

function characterAt(text: string, at: number): string {
  const point = text.codePointAt(at);
  return point === undefined ? "" : String.fromCodePoint(point);
}

/** The place after the set if the character is in it. */
function matchSet(
  pattern: string,
  from: number,
  { character, work }: { readonly character: string; readonly work: Work },
): number | undefined {
  const isNegated = pattern[from] === "!" || pattern[from] === "^";
  const code = character.codePointAt(0) ?? 0;
  let isIn = false;
  for (let at = isNegated ? from + 1 : from; at < pattern.length;) {
    work.left -= 1;
    if (pattern[at] === "]") return isIn === isNegated ? undefined : at + 1;
    const first = readMember(pattern, at);
    if (first === undefined) return undefined;
    at = first.end;
    let last = first;
    if (pattern[at] === "-" && at + 1 < pattern.length && pattern[at + 1] !== "]") {
      const end = readMember(pattern, at + 1);
      if (end === undefined) return undefined;
      last = end;
      at = end.end;
    }
    isIn ||= (first.code <= code && code <= last.code) || code === first.code || code === last.code;
  }
  return undefined;
}

function readMember(pattern: string, from: number): { readonly code: number; readonly end: number } | undefined {
  const at = pattern[from] === "\\" ? from + 1 : from;
  const character = characterAt(pattern, at);
  return character === "" ? undefined : { code: character.codePointAt(0) ?? 0, end: at + character.length };
}
