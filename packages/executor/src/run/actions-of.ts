import { ExecuteError } from "../outcome/execute-error.ts";
import type { ActionRunner } from "./action-runner.ts";
import type { Run } from "./run.ts";

/** The runner of the run's actions, which is asked for when the first one comes. @throws {ExecuteError} REFERENCE_INVALID if there is none */
export function actionsOf(run: Run): Promise<ActionRunner> {
  const { state, hooks } = run;
  if (hooks.actions === undefined) {
    throw new ExecuteError("REFERENCE_INVALID", "reference: GitHub actions cannot be run here");
  }
  return (state.actions ??= hooks.actions());
}
