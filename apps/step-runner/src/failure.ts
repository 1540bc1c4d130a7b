import { isStepsError } from "@steps/model";
import { UsageError } from "./command.ts";
import { complain } from "./terminal.ts";

const AUTHOR_CODES: ReadonlySet<string> = new Set([
  "COMPILE_FAILED",
  "REFERENCE_INVALID",
  "STEP_NOT_FOUND",
  "BASELINE_INVALID",
]);

/** Says what ended a command and gives its exit code: 2 for what the caller wrote, 14 and 16 for a trace, 1 for the rest. */
export function describeFailure(error: unknown, command: string): number {
  if (error instanceof UsageError) {
    complain(error.message, error.hint);
    return 2;
  }
  if (isStepsError(error)) {
    complain(error.message, error.hint);
    if (error.code === "TRACE_INVALID" && command === "replay") return 14;
    if (error.code === "VERSION_UNSUPPORTED") return 16;
    return AUTHOR_CODES.has(error.code) ? 2 : 1;
  }
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (error instanceof Error && typeof code === "string" && /^E[A-Z]+$/.test(code)) {
    complain(error.message);
    return 1;
  }
  // Anything else is a fault of ours, so the trace of calls is worth more than a tidy line.
  complain(`Internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return 1;
}
