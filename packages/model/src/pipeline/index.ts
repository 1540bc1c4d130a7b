export type { GraphJob, JobResult, JobResults, JobStatus } from "./job-result.ts";
export type { PipelineEvent } from "./pipeline-event.ts";
