import { parsePattern, type PatternNode, type Test } from "./pattern-parser.ts";

/** Says whether a text has a match anywhere, in time linear in the text. */
export type Matcher = (text: string) => boolean;

/** Why a pattern cannot be used. */
export interface PatternProblem {
  readonly message: string;
}

type Instruction =
  | { readonly op: "test"; readonly test: Test }
  | { readonly op: "split"; readonly a: number; b: number }
  | { readonly op: "jump"; to: number }
  | { readonly op: "start" | "end" | "line-start" | "line-end" | "word" | "not-word" }
  | { readonly op: "match" };

const MAX_INSTRUCTIONS = 2000;

/**
 * Compiles a regular expression in RE2's syntax; back-references and look-around are not part of it. It runs as an
 * automaton that is in all its states at once, so that no pattern and no text makes it slow.
 */
export function compilePattern(pattern: string): Matcher | PatternProblem {
  const tree = parsePattern(pattern);
  if ("message" in tree) return tree;
  const program: Instruction[] = [];
  if (!emit(tree, program) || program.length >= MAX_INSTRUCTIONS) return { message: "the pattern is too large" };
  program.push({ op: "match" });
  return (text) => hasMatch(program, text);
}

function emit(node: PatternNode, program: Instruction[]): boolean {
  if (program.length > MAX_INSTRUCTIONS) return false;
  switch (node.kind) {
    case "test":
      program.push({ op: "test", test: node.test });
      return true;
    case "assert":
      program.push({ op: node.assert });
      return true;
    case "sequence":
      return node.items.every((item) => emit(item, program));
    case "choice":
      return emitChoice(node.items, program);
    case "repeat":
      return emitRepeat(node, program);
  }
}

function emitChoice(items: readonly PatternNode[], program: Instruction[]): boolean {
  const jumps: { op: "jump"; to: number }[] = [];
  for (const [index, item] of items.entries()) {
    const isLast = index === items.length - 1;
    const split = { op: "split" as const, a: program.length + 1, b: 0 };
    if (!isLast) program.push(split);
    if (!emit(item, program)) return false;
    if (isLast) break;
    const jump = { op: "jump" as const, to: 0 };
    jumps.push(jump);
    program.push(jump);
    split.b = program.length;
  }
  for (const jump of jumps) jump.to = program.length;
  return true;
}

function emitRepeat(node: PatternNode & { readonly kind: "repeat" }, program: Instruction[]): boolean {
  for (let count = 0; count < node.min; count++) if (!emit(node.item, program)) return false;
  if (node.max === undefined) {
    const start = program.length;
    const split = { op: "split" as const, a: start + 1, b: 0 };
    program.push(split);
    if (!emit(node.item, program)) return false;
    program.push({ op: "jump", to: start });
    split.b = program.length;
    return true;
  }
  const splits: { op: "split"; a: number; b: number }[] = [];
  for (let count = node.min; count < node.max; count++) {
    const split = { op: "split" as const, a: program.length + 1, b: 0 };
    splits.push(split);
    program.push(split);
    if (!emit(node.item, program)) return false;
  }
  for (const split of splits) split.b = program.length;
  return true;
}

function hasMatch(program: readonly Instruction[], text: string): boolean {
  const characters = Array.from(text, (character) => character.codePointAt(0) as number);
  const seen = new Int32Array(program.length).fill(-1);
  let current: number[] = [];
  for (let at = 0; at <= characters.length; at++) {
    // A match may start anywhere, so the first state is entered anew before each character.
    const waiting: number[] = [];
    for (const state of [...current, 0]) {
      if (follow(program, state, { at, characters, seen, waiting })) return true;
    }
    if (at === characters.length) return false;
    const code = characters[at] as number;
    current = [];
    for (const state of waiting) {
      const instruction = program[state] as Instruction;
      if (instruction.op === "test" && instruction.test(code)) current.push(state + 1);
    }
  }
  return false;
}

interface Step {
  readonly at: number;
  readonly characters: readonly number[];
  readonly seen: Int32Array;
  readonly waiting: number[];
}

// Goes through everything that takes no character; true when the end of the pattern is reached.
function follow(program: readonly Instruction[], from: number, step: Step): boolean {
  const stack = [from];
  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    if (step.seen[state] === step.at) continue;
    step.seen[state] = step.at;
    const instruction = program[state] as Instruction;
    if (instruction.op === "match") return true;
    if (instruction.op === "test") step.waiting.push(state);
    else if (instruction.op === "jump") stack.push(instruction.to);
    else if (instruction.op === "split") stack.push(instruction.b, instruction.a);
    else if (holds(instruction.op, step)) stack.push(state + 1);
  }
  return false;
}

function holds(
  assert: "start" | "end" | "line-start" | "line-end" | "word" | "not-word",
  { at, characters }: Step,
): boolean {
  const before = at === 0 ? undefined : characters[at - 1];
  const after = characters[at];
  if (assert === "start") return before === undefined;
  if (assert === "end") return after === undefined;
  if (assert === "line-start") return before === undefined || before === 0x0a;
  if (assert === "line-end") return after === undefined || after === 0x0a;
  return (isWord(before) !== isWord(after)) === (assert === "word");
}

function isWord(code: number | undefined): boolean {
  return code !== undefined && code < 128 && /\w/.test(String.fromCharCode(code));
}
