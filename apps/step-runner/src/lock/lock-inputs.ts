import type { Engine } from "@steps/engine";
import type { LockedComponent } from "@steps/engine/components";
import type { StepReference } from "@steps/model/reference";
import type { TextInput } from "../input/read-input.ts";

/** A text of steps whose components are locked, or a step. */
export type LockInput = TextInput | StepReference;

/** Everything that one argument names. */
export interface LockInputs {
  readonly inputs: readonly LockInput[];
  /** The components that files came from: those that are included, and workflows that are called. */
  readonly included: readonly LockedComponent[];
}

/** The engine that resolves components, and the signal that stops it. */
export interface Locking {
  readonly engine: Engine;
  readonly signal: AbortSignal;
}
