export { CI_RULES, type CiCode, type CiReport } from "./ci-rules.ts";
export type { Shell } from "./compile/compile-context.ts";
export {
  checkJobs,
  type CompiledJob,
  compileJob,
  type CompileJobOptions,
  type CompileJobResult,
} from "./compile/compile-job.ts";
export { type JobTerms, type JobTermsOptions, readJobTerms, type RetryTerms } from "./compile/job-terms.ts";
export { ignoredKeywords } from "./job-effects.ts";
export { judgeJob, type JudgedJob, type JudgeJobOptions, type JudgeJobResult } from "./judge-job.ts";
export {
  type JudgedPipeline,
  type JudgedPipelineJob,
  judgePipeline,
  type JudgePipelineOptions,
  type JudgePipelineResult,
} from "./judge-pipeline.ts";
export type { PlannedJob } from "./pipeline/decide-start.ts";
export { type PlannedPipeline, planPipeline, type PlanPipelineOptions } from "./pipeline/plan-pipeline.ts";
export { readDuration } from "./read-duration.ts";
export type { Need } from "./pipeline/read-needs.ts";
export type { Trigger } from "./pipeline/read-trigger.ts";
export { failureReason, type FailureReason, isRetried } from "./pipeline/is-retried.ts";
export { isGate } from "./pipeline/stage-gates.ts";
