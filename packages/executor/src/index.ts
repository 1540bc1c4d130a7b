export { Cancelled } from "./cancelled.ts";
export { execute, type Executed } from "./execute.ts";
export { encodeOutput } from "./encode-output.ts";
export { type CallProblem, findCallProblems } from "./find-call-problems.ts";
export type { ExecuteErrorCode } from "./execute-error.ts";
export type { ExecuteHooks, ExecuteRequest, LoadedStep, LoadFrom, LoadStep } from "./run.ts";
export { PipeReserve } from "./pipe-reserve.ts";
export type { StepLog } from "./step-log.ts";
export { killSurvivors } from "./terminate.ts";
