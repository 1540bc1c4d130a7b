export { combineResults, isPassed } from "./combine-results.ts";
export { findCircles, type GraphJob, type GraphProblem, graphProblems } from "./job-graph.ts";
export type { PipelineEvent } from "./pipeline-event.ts";
export type {
  Decision,
  Instance,
  InstanceSet,
  JobResult,
  JobResults,
  JobStatus,
  PipelineJob,
  PipelineState,
} from "./pipeline-job.ts";
export type { EnterGroup, InstanceName, JobPlaces } from "./job-run.ts";
export { Places } from "./places.ts";
export { PipelineError, type PipelineOptions, runPipeline } from "./run-pipeline.ts";
export { withNeeds } from "./with-needs.ts";
