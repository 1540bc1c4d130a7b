// This entry is for another runner of processes that is part of a run: it tells the same events, starts processes in the
// same way and comes to the same outcomes.
export type { ListItem, ListLanguage, OpenItem, Verdict } from "./lists/list-language.ts";
export { childPath, itemsOf, StepList } from "./lists/step-list.ts";
export { readStepFile, type StepFileContent } from "./files/read-step-file.ts";
export { signalWithTimeout, TimedOut } from "./outcome/cancelled.ts";
export { ExecuteError } from "./outcome/execute-error.ts";
export { isSuccess, mayBeAllowed, outcomeOfAbort, outcomeOfParent } from "./outcome/outcome.ts";
export { endSkipped, endWithout, letsListGoOn, type StepEnd } from "./outcome/step-end.ts";
export type { StepLog } from "./output/step-log.ts";
export { LeftProcesses } from "./process/left-processes.ts";
export { lookupProgram } from "./process/lookup-program.ts";
export type { ProcessEnd } from "./process/run-process.ts";
export { outcomeOfProcess } from "./process/outcome-of-process.ts";
export { COOKIE_VARIABLE } from "./process/terminate.ts";
export type { ActionInvocations, ActionItem, ActionRunner, ExpandGiven } from "./run/action-runner.ts";
export { cleanUpRun } from "./run/clean-up.ts";
export { outcomeOfThrown, runToldStep, type StepOpening } from "./run/told-step.ts";
export { type Level, placesOf } from "./run/level.ts";
export type { OpenedStep } from "./run/opened-step.ts";
export { type Run, tell } from "./run/run.ts";
export { type ProcessClient, startProcess } from "./run/start-process.ts";
export { StepFiles } from "./run/step-files.ts";
export { inPlace, openReference } from "./steps/resolve-reference.ts";
export type { Inputs } from "./values/inputs.ts";
export { literalInputs } from "./values/literal-inputs.ts";
export { withoutCredentials } from "./values/secret-reference.ts";
