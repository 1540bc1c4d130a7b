import type { Run, StepEnd } from "@steps/executor/kit";
import type { StepReference } from "@steps/model/reference";
import type { ActionScope } from "./action-scope.ts";

/** A part of an action that runs before or after the steps of the job. */
export interface PhaseEntry {
  readonly title: string;
  readonly reference: StepReference;
  /** The place that its condition is evaluated in. */
  readonly scope: ActionScope;
  /** `always()` where the action says nothing. */
  readonly condition: string;
  readonly run: (run: Run, path: string) => Promise<StepEnd>;
  /** Tells whether the job goes on after a failure. */
  readonly allowsFailure: (run: Run) => boolean;
}

/** The part of an action that runs when the job's steps have ended. */
export interface PostEntry extends PhaseEntry {
  /** Tells whether there is anything to do: a composite action may have no step that wants something. */
  readonly isNeeded: () => boolean;
}
