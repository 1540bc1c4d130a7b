import { type Assertion, type ParsedPattern, type PatternNode, PatternProblem } from "./line-pattern-parser.ts";
import { createUnitSet, type UnitSet } from "./line-pattern-set.ts";

/** One instruction. An instruction without a target continues with the next one. */
export type Instruction =
  | { readonly op: "unit"; readonly set: UnitSet }
  /** Goes on at `first` and, should that fail, at `second`. */
  | { readonly op: "split"; first: number; second: number }
  | { readonly op: "jump"; to: number }
  /** Keeps the place in a slot: two for each group, those of the whole match first. */
  | { readonly op: "save"; readonly slot: number }
  | { readonly op: "assert"; readonly assertion: Assertion }
  /** Runs what follows up to its `match`, without moving on, and goes on at `next`. */
  | { readonly op: "look"; readonly isNegative: boolean; next: number }
  | { readonly op: "match" };

/** A pattern as instructions. */
export interface Program {
  readonly code: readonly Instruction[];
  readonly slots: number;
}

const MAX_INSTRUCTIONS = 1000;

/** Translates a pattern; throws PatternProblem when it becomes too large. */
export function compileProgram({ node, groups }: ParsedPattern): Program {
  const code: Instruction[] = [{ op: "save", slot: 0 }];
  emit(node, code);
  push(code, { op: "save", slot: 1 });
  push(code, { op: "match" });
  return { code, slots: 2 * (groups + 1) };
}

function push(code: Instruction[], instruction: Instruction): void {
  if (code.length >= MAX_INSTRUCTIONS) throw new PatternProblem("is too large");
  code.push(instruction);
}

function emit(node: PatternNode, code: Instruction[]): void {
  switch (node.kind) {
    case "set":
      return push(code, { op: "unit", set: createUnitSet(node.ranges) });
    case "assert":
      return push(code, { op: "assert", assertion: node.assertion });
    case "sequence":
      for (const item of node.items) emit(item, code);
      return;
    case "choice":
      return emitChoice(node.items, code);
    case "group":
      push(code, { op: "save", slot: 2 * node.index });
      emit(node.item, code);
      return push(code, { op: "save", slot: 2 * node.index + 1 });
    case "look":
      return emitLook(node, code);
    case "repeat":
      return emitRepeat(node, code);
  }
}

function emitChoice(items: readonly PatternNode[], code: Instruction[]): void {
  const jumps: { op: "jump"; to: number }[] = [];
  for (const [index, item] of items.entries()) {
    if (index === items.length - 1) emit(item, code);
    else {
      const split = { op: "split" as const, first: code.length + 1, second: 0 };
      const jump = { op: "jump" as const, to: 0 };
      push(code, split);
      emit(item, code);
      push(code, jump);
      jumps.push(jump);
      split.second = code.length;
    }
  }
  for (const jump of jumps) jump.to = code.length;
}

function emitLook(node: PatternNode & { readonly kind: "look" }, code: Instruction[]): void {
  const look = { op: "look" as const, isNegative: node.isNegative, next: 0 };
  push(code, look);
  emit(node.item, code);
  push(code, { op: "match" });
  look.next = code.length;
}

function emitRepeat(node: PatternNode & { readonly kind: "repeat" }, code: Instruction[]): void {
  for (let count = 0; count < node.min; count++) {
    const before = code.length;
    emit(node.item, code);
    if (code.length === before) return;
  }
  const count = node.max === Infinity ? 1 : node.max - node.min;
  const splits: { op: "split"; first: number; second: number }[] = [];
  for (let index = 0; index < count; index++) {
    const at = code.length;
    const split = { op: "split" as const, first: at + 1, second: 0 };
    push(code, split);
    splits.push(split);
    emit(node.item, code);
    if (node.max === Infinity) push(code, { op: "jump", to: at });
  }
  for (const split of splits) {
    split.second = code.length;
    if (node.isLazy) [split.first, split.second] = [split.second, split.first];
  }
}
