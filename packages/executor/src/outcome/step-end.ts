import type { Annotation, LogSummary, Outcome, RuntimeString, RuntimeValue, Status } from "@steps/model";

/** How a step ended: what its caller and its last event need to know. */
export interface StepEnd {
  readonly outcome: Outcome;
  readonly outputs: Readonly<Record<string, RuntimeValue>>;
  /** Of its process, or of all processes below it. */
  readonly exports: Readonly<Record<string, RuntimeString>>;
  /** Of a step that ran a process itself. */
  readonly process?: { readonly exitCode?: number; readonly signal?: string; readonly log?: LogSummary };
  readonly delegateOf?: string;
  /** Why the step did not run. */
  readonly skipReason?: string;
  /** What its list takes it for, where that is not its outcome: its failure was allowed. */
  readonly conclusion?: Status;
  readonly annotations?: readonly Annotation[];
  /** Markdown. */
  readonly summary?: string;
}

/** The end of a step that gives nothing. */
export function endWithout(outcome: Outcome): StepEnd {
  return { outcome, outputs: {}, exports: {} };
}
