import type { Outcome, RuntimeString, RuntimeValue, Status } from "@steps/model";
import type { Annotation, LogSummary } from "@steps/model/event";
import { isSuccess } from "./outcome.ts";

/** The end of a step: all that its list and its last event need to know. */
export interface StepEnd {
  readonly outcome: Outcome;
  readonly outputs: Readonly<Record<string, RuntimeValue>>;
  /** The exports of its process, or of all processes below it. */
  readonly exports: Readonly<Record<string, RuntimeString>>;
  /** The end of its own process. Absent for a step that ran none. */
  readonly process?: { readonly exitCode?: number; readonly signal?: string; readonly log?: LogSummary };
  readonly delegateOf?: string;
  /** The reason why the step did not run. Absent for a step that ran. */
  readonly skipReason?: string;
  /** The status that its list counts, when it is not that of the outcome because its failure was allowed. */
  readonly conclusion?: Status;
  readonly annotations?: readonly Annotation[];
  /** A text in Markdown that the step wrote about itself. */
  readonly summary?: string;
}

/** The end of a step that gives nothing. */
export function endWithout(outcome: Outcome): StepEnd {
  return { outcome, outputs: {}, exports: {} };
}

/** The end of a step that does not run. */
export function endSkipped(skipReason: string): StepEnd {
  return { ...endWithout({ status: "skipped" }), skipReason };
}

/** Whether a list goes on after this end: the step succeeded, did not run, or was allowed to fail. */
export function letsListGoOn({ conclusion, outcome }: StepEnd): boolean {
  return isSuccess(conclusion ?? outcome.status);
}
