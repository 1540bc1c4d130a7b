import { StepsError } from "@steps/model";

/** The codes of `BuiltinError`. They do not change; docs/reference/errors.md lists them. */
export type BuiltinErrorCode =
  /** There is no built-in step of this name. */
  | "STEP_NOT_FOUND"
  /** A path leads out of the image that was fetched. */
  | "REFERENCE_INVALID"
  /** A built-in step was given something that it cannot use, or could not do what it is for. */
  | "BUILTIN_FAILED";

/** A built-in step did not do what it is for. */
export class BuiltinError extends StepsError<BuiltinErrorCode> {}
