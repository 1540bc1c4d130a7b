import type { StepRecordJson, TraceJson } from "@steps/proto";
import { stepLabel } from "./step-label.ts";

/** A step of a trace with its place in the tree. */
export interface ListedStep {
  /** The labels of the steps from the outermost one to this: its own name, or `#N` for the N-th of its list. */
  readonly names: readonly string[];
  readonly record: StepRecordJson;
}

/** The steps of a trace in the order of the tree, without the job itself. */
export function* listSteps({ root }: TraceJson): Generator<ListedStep> {
  for (const record of root?.children ?? []) yield* below(record, []);
}

function* below(record: StepRecordJson, around: readonly string[]): Generator<ListedStep> {
  const names = [...around, stepLabel(record)];
  yield { names, record };
  for (const child of record.children ?? []) yield* below(child, names);
}
