import type { Outcome } from "@steps/model";
import { outcomeOfAbort, outcomeOfError } from "../outcome/outcome.ts";
import { type Run, tell } from "./run.ts";
import { endWithout, type StepEnd } from "../outcome/step-end.ts";

/** The last event of a step. */
export function finishStep(run: Run, path: string, end: StepEnd): void {
  const { status, error } = end.outcome;
  tell(run, {
    type: "step-finished",
    at: Date.now(),
    path,
    status,
    ...end.process,
    ...(error === undefined ? {} : { error }),
    outputs: end.outputs,
    // A composite's exports are those of its processes, which have told them.
    exports: end.process === undefined ? {} : end.exports,
    ...(end.delegateOf === undefined ? {} : { delegateOf: end.delegateOf }),
    ...(end.skipReason === undefined ? {} : { skipReason: end.skipReason }),
    ...(end.conclusion === undefined ? {} : { conclusion: end.conclusion }),
    ...(end.annotations === undefined ? {} : { annotations: end.annotations }),
    ...(end.summary === undefined ? {} : { summary: end.summary }),
  });
}

/** Turns what a step throws into its end. */
export async function guard(run: Run, body: () => Promise<StepEnd>): Promise<StepEnd> {
  try {
    return await body();
  } catch (error) {
    return endWithout(outcomeOfThrown(run, error, "run"));
  }
}

/** The outcome of a step that something thrown has ended. */
export function outcomeOfThrown(run: Run, error: unknown, phase: "load" | "run"): Outcome {
  if (run.state.observeFailure) throw run.state.observeFailure.error;
  if (run.signal.aborted && phase === "load") return outcomeOfAbort(run.signal.reason);
  return outcomeOfError(error, phase);
}
