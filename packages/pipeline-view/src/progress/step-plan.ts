import type { JournalEvent } from "@steps/trace/journal";

type SpecDefinition = Extract<JournalEvent, { readonly type: "step-planned" }>["specDefinition"];

/** The facts of a list of steps that its items do not tell when they begin. */
export interface StepPlan {
  readonly isParallel: boolean;
  /** How many items there are before those of `finally`. */
  readonly count: number;
  /** How often the step is tried at most; then its children are its attempts. Absent for all others. */
  readonly attempts?: number;
  /** How often an item is tried at most; `undefined` for one that is tried once. */
  readonly attemptsOf: (index: number) => number | undefined;
  /** Whether the list goes on when an item has failed. */
  readonly allowsFailureOf?: (index: number) => boolean;
}

/** The plan of a step, from its definition. */
export function planOf({ definition = {} }: SpecDefinition): StepPlan {
  const items = [...(definition.steps ?? []), ...(definition.finally ?? [])];
  return {
    isParallel: definition.parallel === true,
    count: definition.steps?.length ?? 0,
    attemptsOf: (index) => {
      const max = items[index]?.control?.retry?.max;
      return max === undefined ? undefined : max + 1;
    },
    allowsFailureOf: (index) => items[index]?.control?.continueOnError === true,
  };
}
