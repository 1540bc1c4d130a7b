import { StepsError } from "@steps/model";
import { printable } from "@steps/model/diagnostic";

/** Why a step did not succeed, as far as this package finds out itself; a load error keeps its own code. */
export type ExecuteErrorCode =
  | "INPUT_INVALID"
  | "SECRET_INVALID"
  | "EXPRESSION_FAILED"
  | "OUTPUT_INVALID"
  | "EXPORT_INVALID"
  | "COMMAND_NOT_FOUND"
  | "COMMAND_NOT_EXECUTABLE"
  | "WORK_DIR_MISSING"
  | "SPAWN_FAILED"
  | "LOG_FAILED"
  | "MASKS_TOO_MANY"
  | "DELEGATE_INVALID"
  | "RECURSION_TOO_DEEP"
  | "REFERENCE_INVALID"
  | "PHASE_FAILED"
  | "CONTAINER_FAILED";

/** Ends a step. `execute()` turns it into the step's failure; it is thrown to nobody outside. */
export class ExecuteError extends StepsError<ExecuteErrorCode> {
  /** @param message may quote names as they were written: what drives a terminal is taken out */
  constructor(code: ExecuteErrorCode, message: string, options: { cause?: unknown; hint?: string | undefined } = {}) {
    super(code, printable(message), options);
  }
}
