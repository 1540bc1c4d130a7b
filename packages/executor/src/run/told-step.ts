import type { Outcome } from "@steps/model";
import type { StepOpened } from "@steps/model/event";
import { outcomeOfAbort, outcomeOfError } from "../outcome/outcome.ts";
import { endWithout, type StepEnd } from "../outcome/step-end.ts";
import { type Run, tell } from "./run.ts";

/** The first event of a step. Its reference is as it was written, without credentials. */
export type StepOpening = Omit<StepOpened, "type" | "at">;

/**
 * Runs a step from its first event to its last. Whatever `body` throws becomes the step's failure, except what the observer
 * of the run has thrown. `conclude` may change the end before it is told.
 */
export async function runToldStep(
  run: Run,
  opening: StepOpening,
  body: () => Promise<StepEnd>,
  conclude: (end: StepEnd) => StepEnd = (end) => end,
): Promise<StepEnd> {
  tell(run, { type: "step-opened", at: Date.now(), ...opening });
  const end = conclude(await guard(run, body));
  tellEnd(run, opening.path, end);
  return end;
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

function tellEnd(run: Run, path: string, end: StepEnd): void {
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
