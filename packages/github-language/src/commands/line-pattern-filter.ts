import type { Program } from "./line-pattern-program.ts";

interface FilterState {
  /** The indexes of instructions that wait for a unit, or for the end. */
  readonly waiting: readonly number[];
  /** The next state by ASCII unit; those of other units are in `others`. */
  readonly next: (FilterState | undefined)[];
  readonly others: Map<number, FilterState>;
  /** Whether nothing that follows changes the answer. */
  readonly isFinal: boolean;
  readonly hasMatchAtEnd: boolean;
}

const MAX_STATES = 128;
const MAX_OTHERS = 64;

/** Whether a filter is certain of a match too, not only of none. */
export function isExact({ code }: Program): boolean {
  return code.every(({ op, ...rest }) => op !== "look" && !("assertion" in rest && /word/.test(rest.assertion)));
}

/**
 * Says in one step for each unit whether a line may have a match: `false` is certain. Word boundaries and look-ahead are
 * taken to hold. The states of the automaton are built as lines need them, and a bounded number of them is kept.
 */
export function createLineFilter(program: Program): (line: string) => boolean {
  let states = new Map<string, FilterState>();
  let start: FilterState | undefined;
  const build = (waiting: readonly number[], isMatched: boolean): FilterState => {
    const key = `${isMatched ? "+" : "-"}${waiting.join()}`;
    const known = states.get(key);
    if (known) return known;
    if (states.size >= MAX_STATES) {
      states = new Map();
      start = undefined;
    }
    const state: FilterState = {
      waiting,
      next: Array.from<FilterState | undefined>({ length: 128 }).fill(undefined),
      others: new Map(),
      isFinal: isMatched || waiting.length === 0,
      hasMatchAtEnd: isMatched || closure(program, waiting, { isStart: true, isEnd: true }).isMatched,
    };
    states.set(key, state);
    return state;
  };
  const first = closure(program, [0], { isStart: true, isEnd: false });
  const advance = (state: FilterState, unit: number): FilterState => {
    const taken = state.waiting.filter((at) => takes(program, at, unit)).map((at) => at + 1);
    // A match may begin at every place, so the pattern begins anew at each.
    const reached = closure(program, [...taken, 0], { isStart: false, isEnd: false });
    return build(reached.waiting, reached.isMatched);
  };
  return (line) => {
    let state = (start ??= build(first.waiting, first.isMatched));
    for (let at = 0; at < line.length && !state.isFinal; at++) {
      const unit = line.charCodeAt(at);
      let next = unit < 128 ? state.next[unit] : state.others.get(unit);
      if (!next) {
        next = advance(state, unit);
        if (unit < 128) state.next[unit] = next;
        else if (state.others.size < MAX_OTHERS) state.others.set(unit, next);
      }
      state = next;
    }
    return state.hasMatchAtEnd;
  };
}

function takes({ code }: Program, at: number, unit: number): boolean {
  const instruction = code[at];
  return instruction?.op === "unit" && instruction.set.has(unit);
}

interface Reached {
  readonly waiting: readonly number[];
  readonly isMatched: boolean;
}

function closure(
  { code }: Program,
  from: readonly number[],
  place: { readonly isStart: boolean; readonly isEnd: boolean },
): Reached {
  const seen = new Set<number>();
  const waiting: number[] = [];
  const stack = [...from];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    const instruction = code[at];
    if (seen.has(at) || !instruction) continue;
    seen.add(at);
    if (instruction.op === "match") return { waiting: [], isMatched: true };
    if (instruction.op === "unit") waiting.push(at);
    else if (instruction.op === "split") stack.push(instruction.first, instruction.second);
    else if (instruction.op === "jump") stack.push(instruction.to);
    else if (instruction.op === "look") stack.push(instruction.next);
    else if (instruction.op === "save") stack.push(at + 1);
    else if (instruction.assertion === "start") stack.push(...(place.isStart ? [at + 1] : []));
    else if (instruction.assertion !== "end" || place.isEnd) stack.push(at + 1);
    else waiting.push(at);
  }
  return { waiting: waiting.toSorted((a, b) => a - b), isMatched: false };
}
