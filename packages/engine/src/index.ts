export { CHECK_RULES, type CheckCode } from "./check/check-rules.ts";
export type { CheckedTree, CheckReference, CheckRoot } from "./check/check-steps.ts";
export type { CheckedStep } from "./check/checked-step.ts";
export { createEngine, type Engine, type EngineOptions } from "./create-engine.ts";
export type { LoadOptions } from "./load-options.ts";
export { CompileError, EngineError, type EngineErrorCode } from "./engine-error.ts";
export type { TraceSync } from "./journal-file.ts";
export type { FetchProgress } from "./load-step.ts";
export type {
  AttemptOf,
  PipelineRecording,
  PipelineRecordingOptions,
  PlannedJob,
} from "./pipeline/pipeline-recording.ts";
export type { Recovered } from "./recover.ts";
export { planReplay, type PlannedComponent, type ReplayOptions, type ReplayReport } from "./replay.ts";
export type { RunHooks, RunOptions, RunResult } from "./run.ts";
export { Cancelled } from "@steps/executor";
