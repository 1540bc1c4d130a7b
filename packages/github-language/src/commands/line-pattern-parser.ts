import { ANY_BUT_NEWLINE, BLANKS, complement, DIGITS, type UnitRanges, WORDS } from "./line-pattern-set.ts";

/** The condition that an assertion without width checks. */
export type Assertion = "start" | "end" | "word" | "not-word";

/** A regular expression as a tree. */
export type PatternNode =
  | { readonly kind: "set"; readonly ranges: UnitRanges }
  | { readonly kind: "assert"; readonly assertion: Assertion }
  | { readonly kind: "sequence" | "choice"; readonly items: readonly PatternNode[] }
  | { readonly kind: "group"; readonly item: PatternNode; readonly index: number }
  | { readonly kind: "look"; readonly item: PatternNode; readonly isNegative: boolean }
  | {
      readonly kind: "repeat";
      readonly item: PatternNode;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
    };

/** A pattern with its count of groups, the whole match not counted. */
export interface ParsedPattern {
  readonly node: PatternNode;
  readonly groups: number;
}

/** Why a pattern cannot be used; the message completes "the pattern …". */
export class PatternProblem extends Error {}

interface Cursor {
  readonly text: string;
  at: number;
  groups: number;
  depth: number;
}

const MAX_LENGTH = 4096;
const MAX_DEPTH = 50;
const MAX_REPEAT = 1000;

/**
 * Reads a regular expression in JavaScript's syntax without Unicode mode.
 *
 * @throws PatternProblem for one that is malformed, or needs more than linear time: back-references, look-behind,
 * atomic groups; also for groups that set flags.
 */
export function parseLinePattern(text: string): ParsedPattern {
  if (text.length > MAX_LENGTH) throw new PatternProblem(`has more than ${MAX_LENGTH} characters`);
  const cursor: Cursor = { text, at: 0, groups: 0, depth: 0 };
  const node = parseChoice(cursor);
  if (cursor.at < text.length) throw new PatternProblem('has a ")" too many');
  return { node, groups: cursor.groups };
}

function parseChoice(cursor: Cursor): PatternNode {
  if (++cursor.depth > MAX_DEPTH) throw new PatternProblem("is nested too deep");
  const items = [parseSequence(cursor)];
  while (cursor.text[cursor.at] === "|") {
    cursor.at += 1;
    items.push(parseSequence(cursor));
  }
  cursor.depth -= 1;
  return { kind: "choice", items };
}

function parseSequence(cursor: Cursor): PatternNode {
  const items: PatternNode[] = [];
  for (let next = cursor.text[cursor.at]; next !== undefined && next !== "|" && next !== ")";) {
    items.push(parseRepeat(cursor, parseAtom(cursor, next)));
    next = cursor.text[cursor.at];
  }
  return { kind: "sequence", items };
}

const REPEAT = /[*+?]|\{(\d{1,9})(?:(,)(\d{0,9}))?\}/y;

function parseRepeat(cursor: Cursor, item: PatternNode): PatternNode {
  const bounds = takeRepeat(cursor);
  if (!bounds) return item;
  if (item.kind === "assert") throw new PatternProblem("repeats an assertion");
  const isLazy = cursor.text[cursor.at] === "?";
  if (isLazy) cursor.at += 1;
  if (takeRepeat(cursor)) throw new PatternProblem("repeats a repeat");
  return { kind: "repeat", item, ...bounds, isLazy };
}

function takeRepeat(cursor: Cursor): { readonly min: number; readonly max: number } | undefined {
  REPEAT.lastIndex = cursor.at;
  const [sign, low, comma, high] = REPEAT.exec(cursor.text) ?? [];
  if (sign === undefined) return undefined;
  cursor.at += sign.length;
  if (sign === "*") return { min: 0, max: Infinity };
  if (sign === "+") return { min: 1, max: Infinity };
  if (sign === "?") return { min: 0, max: 1 };
  const min = Number(low);
  const max = comma === undefined ? min : high === "" ? Infinity : Number(high);
  if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT) || max < min) {
    throw new PatternProblem(`has the repeat ${sign}, of which bounds up to ${MAX_REPEAT} are supported`);
  }
  return { min, max };
}

function parseAtom(cursor: Cursor, next: string): PatternNode {
  if (next === "(") return parseGroup(cursor);
  if (next === "[") return { kind: "set", ranges: parseClass(cursor) };
  if (next === "\\") return parseEscape(cursor);
  if (takeRepeat({ ...cursor })) throw new PatternProblem(`has nothing to repeat before "${next}"`);
  cursor.at += 1;
  if (next === "^") return { kind: "assert", assertion: "start" };
  if (next === "$") return { kind: "assert", assertion: "end" };
  return { kind: "set", ranges: next === "." ? ANY_BUT_NEWLINE : single(next.charCodeAt(0)) };
}

const GROUP = /\((?:\?(?:(:)|([=!])|<[A-Za-z_$][\w$]*>))?/y;

function parseGroup(cursor: Cursor): PatternNode {
  GROUP.lastIndex = cursor.at;
  const [opening = "(", isPlain, look] = GROUP.exec(cursor.text) ?? [];
  if (opening === "(" && cursor.text[cursor.at + 1] === "?") {
    throw new PatternProblem(`has an unsupported group "${cursor.text.slice(cursor.at, cursor.at + 4)}"`);
  }
  cursor.at += opening.length;
  const isCapturing = isPlain === undefined && look === undefined;
  const index = isCapturing ? ++cursor.groups : 0;
  const before = cursor.groups;
  const item = parseChoice(cursor);
  if (cursor.text[cursor.at] !== ")") throw new PatternProblem('lacks a ")"');
  cursor.at += 1;
  if (look !== undefined && cursor.groups > before) throw new PatternProblem("has a numbered group in a look-ahead");
  if (look !== undefined) return { kind: "look", item, isNegative: look === "!" };
  return isCapturing ? { kind: "group", item, index } : item;
}

const ASSERTIONS: ReadonlyMap<string, Assertion> = new Map([
  ["b", "word"],
  ["B", "not-word"],
  ["A", "start"],
  ["z", "end"],
  ["Z", "end"],
]);

function parseEscape(cursor: Cursor): PatternNode {
  const letter = cursor.text[cursor.at + 1];
  const assertion = ASSERTIONS.get(letter ?? "");
  if (assertion !== undefined) {
    cursor.at += 2;
    return { kind: "assert", assertion };
  }
  if (letter !== undefined && /[1-9k]/.test(letter)) throw new PatternProblem("has a back-reference");
  return { kind: "set", ranges: takeEscape(cursor) };
}

const CLASSES: ReadonlyMap<string, UnitRanges> = new Map([
  ["d", DIGITS],
  ["D", complement(DIGITS)],
  ["w", WORDS],
  ["W", complement(WORDS)],
  ["s", BLANKS],
  ["S", complement(BLANKS)],
]);

const CONTROLS: ReadonlyMap<string, number> = new Map([
  ["t", 9],
  ["n", 10],
  ["v", 11],
  ["f", 12],
  ["r", 13],
  ["a", 7],
  ["e", 27],
  ["0", 0],
]);

const CODE = /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|c([A-Za-z]))/y;

// An escape that stands for units, in a class or outside of one.
function takeEscape(cursor: Cursor): UnitRanges {
  CODE.lastIndex = cursor.at;
  const [code, hex, long, control] = CODE.exec(cursor.text) ?? [];
  if (code !== undefined) {
    cursor.at += code.length;
    return single(control === undefined ? Number.parseInt(hex ?? long ?? "", 16) : control.charCodeAt(0) % 32);
  }
  const letter = cursor.text[cursor.at + 1];
  if (letter === undefined) throw new PatternProblem("ends in a backslash");
  cursor.at += 2;
  const ranges = CLASSES.get(letter);
  if (ranges) return ranges;
  const unit = CONTROLS.get(letter);
  if (unit !== undefined) return single(unit);
  if (/[A-Za-z0-9]/.test(letter)) throw new PatternProblem(`has the unknown escape "\\${letter}"`);
  return single(letter.charCodeAt(0));
}

function parseClass(cursor: Cursor): UnitRanges {
  const isNegated = cursor.text[cursor.at + 1] === "^";
  cursor.at += isNegated ? 2 : 1;
  const ranges: (readonly [number, number])[] = [];
  while (cursor.text[cursor.at] !== "]") {
    const item = takeClassItem(cursor);
    const isRange = cursor.text[cursor.at] === "-" && cursor.text[cursor.at + 1] !== "]";
    if (!isRange) {
      ranges.push(...item);
      continue;
    }
    cursor.at += 1;
    ranges.push(...rangeOf(item, takeClassItem(cursor)));
  }
  cursor.at += 1;
  return isNegated ? complement(ranges) : ranges;
}

function takeClassItem(cursor: Cursor): UnitRanges {
  const next = cursor.text[cursor.at];
  if (next === undefined) throw new PatternProblem('lacks a "]"');
  if (next === "\\" && cursor.text[cursor.at + 1] === "b") {
    cursor.at += 2;
    return single(8);
  }
  if (next === "\\") return takeEscape(cursor);
  cursor.at += 1;
  return single(next.charCodeAt(0));
}

// A range from or to a class such as "\w" is no range: its minus is a character.
function rangeOf(from: UnitRanges, to: UnitRanges): UnitRanges {
  const [[first, firstEnd]] = from as readonly [readonly [number, number]];
  const [[last, lastEnd]] = to as readonly [readonly [number, number]];
  if (from.length > 1 || to.length > 1 || first !== firstEnd || last !== lastEnd)
    return [...from, ...single(45), ...to];
  if (last < first) throw new PatternProblem("has a range that is out of order");
  return [[first, last]];
}

function single(unit: number): UnitRanges {
  return [[unit, unit]];
}
