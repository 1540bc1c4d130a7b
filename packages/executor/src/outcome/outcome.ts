import { isStepsError, messageOf, type Outcome, type Status, type StepFailure } from "@steps/model";
import { Cancelled, TimedOut } from "./cancelled.ts";

/** Load errors that are the author's to mend: the step failed, the runner did its part. */
const FAILURES_OF_LOADING: ReadonlySet<string> = new Set([
  "COMPILE_FAILED",
  "REFERENCE_INVALID",
  "INPUT_INVALID",
  "SECRET_INVALID",
]);

/** Codes of ours that say the runner could not do its part. */
const ERRORS_OF_OURS: ReadonlySet<string> = new Set(["SPAWN_FAILED", "LOG_FAILED", "INTERNAL"]);

/** The outcome of a step that something thrown has ended. */
export function outcomeOfError(error: unknown, phase: "load" | "run"): Outcome {
  const known = isStepsError(error) ? error : undefined;
  const code = known?.code ?? (phase === "load" ? "LOAD_FAILED" : "INTERNAL");
  const isFailure = phase === "load" ? FAILURES_OF_LOADING.has(code) : !ERRORS_OF_OURS.has(code);
  const hint = known?.hint === undefined ? "" : ` (${known.hint})`;
  return { status: isFailure ? "failure" : "error", error: { code, message: `${messageOf(error)}${hint}` } };
}

/** The outcome of a step that was stopped, from the reason of the abort; `phase` is put before its message. */
export function outcomeOfAbort(reason: unknown, phase = ""): Outcome {
  if (reason instanceof TimedOut) {
    return { status: "timeout", error: { code: "TIMEOUT", message: `${phase}${lowerFirst(reason.message)}` } };
  }
  const signal = reason instanceof Cancelled ? reason.signalName : undefined;
  const by = signal === undefined ? "" : ` by ${signal}`;
  return {
    status: "cancelled",
    signal,
    error: { code: "CANCELLED", message: `${phase}cancelled${by}` },
  };
}

/** The same outcome one level further out: `step "a": ` is put before the message (conformance section 13.3). */
export function outcomeOfParent(outcome: Outcome, child: string): Outcome {
  if (outcome.error === undefined) return outcome;
  const error: StepFailure = { code: outcome.error.code, message: `step ${child}: ${outcome.error.message}` };
  return { ...outcome, error };
}

/** Whether a step with this status lets the next one run. */
export function isSuccess(status: Status): boolean {
  return status === "success" || status === "skipped";
}

/** Says whether `continue-on-error` applies. It never excuses a cancellation. */
export function mayBeAllowed(status: Status): boolean {
  return !isSuccess(status) && status !== "cancelled";
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
