import type { JobOutcome } from "@steps/client";
import { RunStatus } from "@steps/proto";
import type { FailureReason } from "@steps/runner-api";

/** How a job ended, as its server is told. */
export interface JobEnd {
  readonly state: "success" | "failed";
  readonly reason?: FailureReason | undefined;
  /** Absent: 0, or none. */
  readonly exitCode?: number | undefined;
  /** For the last line of the trace. */
  readonly message?: string | undefined;
}

/** Who had the job cancelled, if anybody had. */
export type Canceller = "server" | "runner" | undefined;

/** The end that the service tells. */
export function endOf({ job, exitCode }: Pick<JobOutcome, "job" | "exitCode">, canceller: Canceller): JobEnd {
  const { runStatus, error } = job;
  if (exitCode === 0 && runStatus !== RunStatus.cancelled) return { state: "success" };
  const message = error?.message;
  switch (runStatus) {
    case RunStatus.timeout:
      return failed("job_execution_timeout", { message: "execution took longer than the job may take" });
    case RunStatus.cancelled:
      return cancelledBy(canceller);
    case RunStatus.interrupted:
      return failed("runner_system_failure", { message });
    default:
      break;
  }
  const isOfScript = error === undefined || SCRIPT_ERRORS.has(error.code);
  // As GitLab's runner says it, the exit code stands for the message.
  if (error?.code === "EXIT_STATUS") return failed("script_failure", { exitCode, message: `exit code ${exitCode}` });
  return failed(isOfScript ? "script_failure" : "runner_system_failure", { exitCode, message });
}

/** The end of a job that was cancelled. */
export function cancelledBy(canceller: Canceller): JobEnd {
  if (canceller === "runner") return failed("runner_interrupted", { message: "the runner was stopped" });
  return failed("unknown_failure", { message: "canceled" });
}

/** The end of a job that failed. */
export function failed(
  reason: FailureReason,
  { message, exitCode }: { readonly message?: string | undefined; readonly exitCode?: number | undefined },
): JobEnd {
  return { state: "failed", reason, message, exitCode };
}

// Failures that the author of the job has to mend; the rest are the runner's or the machine's.
const SCRIPT_ERRORS: ReadonlySet<string> = new Set([
  "EXIT_STATUS",
  "SIGNAL",
  "TIMEOUT",
  "INPUT_INVALID",
  "SECRET_INVALID",
  "EXPRESSION_FAILED",
  "REFERENCE_INVALID",
  "STEP_NOT_FOUND",
  "COMPILE_FAILED",
  "COMMAND_NOT_FOUND",
  "COMMAND_NOT_EXECUTABLE",
  "WORK_DIR_MISSING",
  "OUTPUT_INVALID",
  "EXPORT_INVALID",
  "DELEGATE_INVALID",
  "RECURSION_TOO_DEEP",
  "BUILTIN_FAILED",
]);
