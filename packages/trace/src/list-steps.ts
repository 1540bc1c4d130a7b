import type { StepRecordJson, TraceJson } from "@steps/proto";
import { shownLabel } from "./shown-label.ts";
import { stepLabel } from "./step-label.ts";

/** A step of a trace with its place in the tree. */
export interface ListedStep {
  /** The labels of the steps from the outermost one to this: the own name of each, its reference, or `#N` for the N-th of its list. */
  readonly names: readonly string[];
  /** The same with `#N` for each step without a name of its own. */
  readonly numbers: readonly string[];
  readonly record: StepRecordJson;
}

/** The steps of a trace in the order of the tree, without the job itself. */
export function* listSteps({ root }: TraceJson): Generator<ListedStep> {
  for (const record of root?.children ?? []) yield* below(record, { names: [], numbers: [] });
}

function* below(record: StepRecordJson, around: Omit<ListedStep, "record">): Generator<ListedStep> {
  const names = [...around.names, shownLabel({ ...record, reference: record.det?.reference })];
  const numbers = [...around.numbers, stepLabel(record)];
  yield { names, numbers, record };
  for (const child of record.children ?? []) yield* below(child, { names, numbers });
}
