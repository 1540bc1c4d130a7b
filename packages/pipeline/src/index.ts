export { combineResults, isPassed } from "./combine-results.ts";
export { findCircles, type GraphProblem, graphProblems } from "./job-graph.ts";
export type { GraphJob, JobResult, JobResults, JobStatus, PipelineEvent } from "@steps/model/pipeline";
export type { Decision, Instance, InstanceSet, PipelineJob, PipelineState } from "./pipeline-job.ts";
export type { EnterGroup, InstanceName, JobPlaces } from "./job-run.ts";
export { Places } from "./places.ts";
export { PipelineError, type PipelineOptions, runPipeline } from "./run-pipeline.ts";
export { withNeeds } from "./with-needs.ts";
