import { isStepsError, messageOf, type Outcome } from "@steps/model";
import { ExecuteError } from "../outcome/execute-error.ts";
import { outcomeOfAbort, outcomeOfError } from "../outcome/outcome.ts";
import type { ProcessEnd } from "./run-process.ts";
import { spawnFailure } from "./spawn-failure.ts";

/**
 * The outcome of a step whose process ended in this way. `undefined`: the process succeeded, and the step has still to be
 * judged by what its process wrote. `prefix` is put before the messages.
 */
export function outcomeOfProcess(
  { exitCode, signal, spawnError, logFailure }: ProcessEnd,
  abort: AbortSignal,
  prefix = "exec: ",
): Outcome | undefined {
  if (spawnError) return outcomeOfError(spawnFailure(spawnError), "run");
  if (logFailure) return outcomeOfLogFailure(logFailure.error, prefix);
  if (abort.aborted) return outcomeOfAbort(abort.reason, prefix);
  if (signal !== undefined) {
    return { status: "failure", signal, error: { code: "SIGNAL", message: `${prefix}signal: ${signal}` } };
  }
  if (exitCode === 0) return undefined;
  const error = { code: "EXIT_STATUS", message: `${prefix}exit status ${exitCode}` };
  return { status: "failure", exitCode, error };
}

function outcomeOfLogFailure(error: unknown, prefix: string): Outcome {
  const code = isStepsError(error) ? error.code : "LOG_FAILED";
  // An error of our own is one that a step has brought about by what it printed.
  const said = error instanceof ExecuteError ? error.message : `cannot write the log: ${messageOf(error)}`;
  return { status: "error", error: { code, message: `${prefix}${said}` } };
}
