export { type JobTerms, type JobTermsOptions, readJobTerms, type RetryTerms } from "../compile/job-terms.ts";
export { hasArtifacts, hasDotenvReport } from "../compile/pages-path.ts";
export {
  type JudgedPipeline,
  type JudgedPipelineJob,
  judgePipeline,
  type JudgePipelineOptions,
  type JudgePipelineResult,
} from "../judge-pipeline.ts";
export { readDuration } from "@steps/model/gitlab-duration";
export type { PlannedJob } from "./decide-start.ts";
export { isAllowedToFail, isRetried } from "./is-retried.ts";
export { type PlannedPipeline, planPipeline, type PlanPipelineOptions } from "./plan-pipeline.ts";
export { type ForeignNeed, type Need, readForeignNeeds } from "./read-needs.ts";
export type { Trigger } from "./read-trigger.ts";
export { isGate } from "./stage-gates.ts";
