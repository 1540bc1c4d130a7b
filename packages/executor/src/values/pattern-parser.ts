/** Whether a character, as a code point, fits. */
export type Test = (code: number) => boolean;

/** A regular expression as a tree. */
export type PatternNode =
  | { readonly kind: "test"; readonly test: Test }
  | { readonly kind: "assert"; readonly assert: "start" | "end" | "line-start" | "line-end" | "word" | "not-word" }
  | { readonly kind: "sequence" | "choice"; readonly items: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly item: PatternNode; readonly min: number; readonly max: number | undefined };

interface Cursor {
  readonly text: string;
  at: number;
  depth: number;
  /** Of the group that is being read: `i`, `m`, `s`. */
  flags: string;
}

class PatternError extends Error {}

const MAX_PATTERN_LENGTH = 4096;
const MAX_DEPTH = 100;
// RE2's own limit.
const MAX_REPEAT = 1000;

/** Reads a regular expression in RE2's syntax, or says what in it cannot be used. */
export function parsePattern(pattern: string): PatternNode | { readonly message: string } {
  if (pattern.length > MAX_PATTERN_LENGTH) return { message: "the pattern is too long" };
  const cursor: Cursor = { text: pattern, at: 0, depth: 0, flags: "" };
  try {
    const tree = parseChoice(cursor);
    if (cursor.at < pattern.length) return { message: `the pattern has a ")" too many` };
    return tree;
  } catch (error) {
    if (error instanceof PatternError) return { message: error.message };
    throw error;
  }
}

function parseChoice(cursor: Cursor): PatternNode {
  if (++cursor.depth > MAX_DEPTH) throw new PatternError("the pattern is nested too deep");
  const items = [parseSequence(cursor)];
  while (cursor.text[cursor.at] === "|") {
    cursor.at += 1;
    items.push(parseSequence(cursor));
  }
  cursor.depth -= 1;
  return items.length === 1 ? (items[0] as PatternNode) : { kind: "choice", items };
}

function parseSequence(cursor: Cursor): PatternNode {
  const items: PatternNode[] = [];
  while (cursor.at < cursor.text.length && !"|)".includes(cursor.text[cursor.at] as string)) {
    const atom = parseAtom(cursor);
    if (atom) items.push(parseRepeat(cursor, atom));
  }
  return { kind: "sequence", items };
}

function parseRepeat(cursor: Cursor, item: PatternNode): PatternNode {
  let bounds: readonly [number, number | undefined] | undefined;
  const sign = cursor.text[cursor.at];
  const braces = /^\{(\d+)(?:(,)(\d*))?\}/.exec(cursor.text.slice(cursor.at, cursor.at + 16));
  if (sign === "*") bounds = [0, undefined];
  else if (sign === "+") bounds = [1, undefined];
  else if (sign === "?") bounds = [0, 1];
  else if (braces) {
    const min = Number(braces[1]);
    bounds = [min, braces[2] === undefined ? min : braces[3] === "" ? undefined : Number(braces[3])];
  }
  if (!bounds) return item;
  const [min, max] = bounds;
  if (min > MAX_REPEAT || (max ?? 0) > MAX_REPEAT || (max ?? min) < min) {
    throw new PatternError("the pattern has a bad repeat count");
  }
  cursor.at += braces ? braces[0].length : 1;
  // Lazy or greedy makes no difference to whether there is a match.
  if (cursor.text[cursor.at] === "?") cursor.at += 1;
  if (/^[*+?]|^\{\d+(?:,\d*)?\}/.test(cursor.text.slice(cursor.at, cursor.at + 16))) {
    throw new PatternError("the pattern repeats a repeat");
  }
  return { kind: "repeat", item, min, max };
}

// Nothing comes of a group that only sets flags.
function parseAtom(cursor: Cursor): PatternNode | undefined {
  const character = String.fromCodePoint(cursor.text.codePointAt(cursor.at) as number);
  if (character === "(") return parseGroup(cursor);
  if (character === "[") return parseClass(cursor);
  if (character === "\\") return parseEscape(cursor);
  cursor.at += character.length;
  const isMultiline = cursor.flags.includes("m");
  if (character === "^") return { kind: "assert", assert: isMultiline ? "line-start" : "start" };
  if (character === "$") return { kind: "assert", assert: isMultiline ? "line-end" : "end" };
  if (character === ".") {
    const all = cursor.flags.includes("s");
    return { kind: "test", test: (code) => all || code !== 0x0a };
  }
  if ("*+?".includes(character)) throw new PatternError(`the pattern has nothing to repeat before "${character}"`);
  return characterNode(character, cursor);
}

function characterNode(character: string, cursor: Cursor): PatternNode {
  if (cursor.flags.includes("i")) return testOf(character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&"), cursor);
  const wanted = character.codePointAt(0);
  return { kind: "test", test: (code) => code === wanted };
}

function parseGroup(cursor: Cursor): PatternNode | undefined {
  const outer = cursor.flags;
  const opened = /^\((?:\?(?:P?<[A-Za-z_]\w*>|([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])))?/.exec(cursor.text.slice(cursor.at));
  const [start = "(", on, off = "", end] = opened ?? [];
  if (cursor.text[cursor.at + 1] === "?" && start === "(") {
    throw new PatternError("the pattern uses look-around, which RE2 does not have");
  }
  if (on !== undefined) {
    if (/[^ims]/.test(on + off)) throw new PatternError("the pattern sets an unknown flag");
    cursor.flags = Array.from(new Set(outer + on))
      .filter((flag) => !off.includes(flag))
      .join("");
  }
  cursor.at += start.length;
  if (end === ")") return undefined;
  const inner = parseChoice(cursor);
  if (cursor.text[cursor.at] !== ")") throw new PatternError('the pattern lacks a ")"');
  cursor.at += 1;
  cursor.flags = outer;
  return inner;
}

const ASSERTS: Readonly<Record<string, "start" | "end" | "word" | "not-word">> = {
  A: "start",
  z: "end",
  b: "word",
  B: "not-word",
};

function parseEscape(cursor: Cursor): PatternNode {
  const rest = cursor.text.slice(cursor.at);
  const letter = rest[1];
  if (letter === undefined) throw new PatternError("the pattern ends in a backslash");
  const assert = Object.hasOwn(ASSERTS, letter) ? ASSERTS[letter] : undefined;
  if (assert !== undefined) {
    cursor.at += 2;
    return { kind: "assert", assert };
  }
  if (/[1-9k]/.test(letter)) throw new PatternError("the pattern uses a back-reference, which RE2 does not have");
  if (letter === "a") return advance(cursor, 2, (code) => code === 7);
  const braced = /^\\x\{([0-9A-Fa-f]{1,6})\}/.exec(rest);
  if (braced) {
    const wanted = Number.parseInt(braced[1] as string, 16);
    return advance(cursor, braced[0].length, (code) => code === wanted);
  }
  const source = /^\\(?:[pP](?:\{\^?\w+\}|[A-Z])|x[0-9A-Fa-f]{2}|[dDwWsSnrtfv])/.exec(rest)?.[0];
  if (source !== undefined) {
    cursor.at += source.length;
    return testOf(source.replace(/^\\([pP])([A-Z])$/, "\\$1{$2}"), cursor);
  }
  const character = String.fromCodePoint(rest.codePointAt(1) as number);
  if (/[A-Za-z0-9]/.test(character)) throw new PatternError(`the pattern has an unknown escape "\\${character}"`);
  cursor.at += 1 + character.length;
  return characterNode(character, cursor);
}

function advance(cursor: Cursor, length: number, test: Test): PatternNode {
  cursor.at += length;
  return { kind: "test", test };
}

const POSIX: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  blank: "\\t ",
  digit: "0-9",
  lower: "a-z",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\s",
  upper: "A-Z",
  word: "\\w",
  xdigit: "0-9A-Fa-f",
};

function parseClass(cursor: Cursor): PatternNode {
  const negated = cursor.text[cursor.at + 1] === "^";
  let at = cursor.at + (negated ? 2 : 1);
  let body = "";
  for (let isFirst = true; cursor.text[at] !== "]" || isFirst; isFirst = false) {
    if (at >= cursor.text.length) throw new PatternError('the pattern lacks a "]"');
    const posix = /^\[:([a-z]+):\]/.exec(cursor.text.slice(at, at + 12));
    if (posix) body += POSIX[posix[1] as string] ?? unknownClass(posix[1] as string);
    else if (cursor.text[at] === "\\") body += classEscape(cursor.text.slice(at, at + 2));
    else body += "[]".includes(cursor.text[at] as string) ? `\\${cursor.text[at]}` : cursor.text[at];
    at += posix ? posix[0].length : cursor.text[at] === "\\" ? 2 : 1;
  }
  cursor.at = at + 1;
  return testOf(`[${negated ? "^" : ""}${body}]`, cursor);
}

// The engine's Unicode mode refuses escapes of characters that mean nothing.
function classEscape(escape: string): string {
  return /^\\[^\w\s^$\\.*+?()[\]{}|/-]/.test(escape) ? escape.slice(1) : escape;
}

function unknownClass(name: string): never {
  throw new PatternError(`the pattern names an unknown class "[:${name}:]"`);
}

// One character at a time, the engine's own classes cannot be slow.
function testOf(source: string, cursor: Cursor): PatternNode {
  let regexp: RegExp;
  try {
    regexp = new RegExp(`^${source}$`, cursor.flags.includes("i") ? "iu" : "u");
  } catch {
    throw new PatternError(`the pattern has a malformed part: "${source}"`);
  }
  const known = new Map<number, boolean>();
  const test = (code: number): boolean => {
    const before = known.get(code);
    if (before !== undefined) return before;
    const result = regexp.test(String.fromCodePoint(code));
    if (known.size < 1024) known.set(code, result);
    return result;
  };
  return { kind: "test", test };
}
