import { createLineFilter, isExact } from "./line-pattern-filter.ts";
import { parseLinePattern } from "./line-pattern-parser.ts";
import { compileProgram, type Instruction, type Program } from "./line-pattern-program.ts";
import { isWordUnit } from "./line-pattern-set.ts";

/** A compiled regular expression for lines. */
export interface LinePattern {
  /** How many numbered groups it has, the whole match not counted. */
  readonly groups: number;
  /** Whether there is a match: what `match` would say, in less time. */
  test(line: string): boolean | "exhausted";
  /**
   * The first match: the whole of it, then each group, `undefined` for a group that took no part. Nothing without a
   * match; `"exhausted"` when the search took more steps than any useful pattern needs.
   */
  match(line: string): readonly (string | undefined)[] | "exhausted" | undefined;
}

const MAX_STEPS = 1_000_000;

/**
 * Compiles a regular expression so that no line and no pattern makes it slow: JavaScript's own engine is not used. A line
 * first goes through an automaton that only says whether a match is possible; the groups are found by a search that
 * remembers where it has failed, so that it visits each place of the pattern at each place of the line at most once.
 *
 * @throws PatternProblem
 */
export function compileLinePattern(text: string): LinePattern {
  const parsed = parseLinePattern(text);
  const program = compileProgram(parsed);
  const mayMatch = createLineFilter(program);
  const isCertain = isExact(program);
  const match = (line: string): ReturnType<LinePattern["match"]> =>
    mayMatch(line) ? search(program, line) : undefined;
  const test = (line: string): boolean | "exhausted" => {
    if (isCertain) return mayMatch(line);
    const groups = match(line);
    return groups === "exhausted" ? groups : groups !== undefined;
  };
  return { groups: parsed.groups, test, match };
}

interface Search {
  readonly code: readonly Instruction[];
  readonly line: string;
  readonly slots: number[];
  /** Failed pairs of instruction and place, a bit each. */
  readonly failed: Uint32Array;
  steps: number;
}

function search({ code, slots }: Program, line: string): readonly (string | undefined)[] | "exhausted" | undefined {
  const failed = new Uint32Array(Math.ceil((code.length * (line.length + 1)) / 32));
  const state: Search = { code, line, slots: Array.from({ length: slots }, () => -1), failed, steps: 0 };
  for (let start = 0; start <= line.length; start++) {
    if (run(state, 0, start)) return groupsOf(state);
    if (state.steps > MAX_STEPS) return "exhausted";
  }
  return undefined;
}

function groupsOf({ slots, line }: Search): readonly (string | undefined)[] {
  const groups: (string | undefined)[] = [];
  for (let slot = 0; slot < slots.length; slot += 2) {
    const [start = -1, end = -1] = slots.slice(slot, slot + 2);
    groups.push(start < 0 || end < start ? undefined : line.slice(start, end));
  }
  return groups;
}

// Depth first, in the order of preference. A negative entry of the stack restores a slot when the search comes back to it.
function run(state: Search, from: number, start: number): boolean {
  const { code, line, slots, failed } = state;
  const width = line.length + 1;
  const stack = [from, start];
  while (stack.length > 0) {
    const at = stack.pop() as number;
    let pc = stack.pop() as number;
    if (pc < 0) {
      slots[-pc - 1] = at;
      continue;
    }
    for (let place = at; ;) {
      if (++state.steps > MAX_STEPS) return false;
      const bit = pc * width + place;
      const word = failed[bit >>> 5] as number;
      if ((word & (1 << (bit & 31))) !== 0) break;
      failed[bit >>> 5] = word | (1 << (bit & 31));
      const instruction = code[pc] as Instruction;
      if (instruction.op === "match") return true;
      if (instruction.op === "unit") {
        if (place === line.length || !instruction.set.has(line.charCodeAt(place))) break;
        place += 1;
        pc += 1;
      } else if (instruction.op === "split") {
        stack.push(instruction.second, place);
        pc = instruction.first;
      } else if (instruction.op === "jump") pc = instruction.to;
      else if (instruction.op === "save") {
        stack.push(-instruction.slot - 1, slots[instruction.slot] as number);
        slots[instruction.slot] = place;
        pc += 1;
      } else if (instruction.op === "assert") {
        if (!holds(instruction.assertion, line, place)) break;
        pc += 1;
      } else {
        if (looksAhead(state, pc + 1, place) === instruction.isNegative) break;
        pc = instruction.next;
      }
    }
  }
  return false;
}

// With a memory of its own: what succeeds here is not failed elsewhere.
function looksAhead(state: Search, pc: number, place: number): boolean {
  const failed = new Uint32Array(state.failed.length);
  const inner: Search = { ...state, slots: [], failed };
  const result = run(inner, pc, place);
  state.steps = inner.steps + (failed.length >>> 4);
  return result;
}

function holds(assertion: "start" | "end" | "word" | "not-word", line: string, place: number): boolean {
  if (assertion === "start") return place === 0;
  if (assertion === "end") return place === line.length;
  const before = place > 0 && isWordUnit(line.charCodeAt(place - 1));
  const after = place < line.length && isWordUnit(line.charCodeAt(place));
  return (before !== after) === (assertion === "word");
}
