import type { GithubOptions } from "@steps/engine/github";
import type { PlannedWorkflow, WorkflowWork } from "@steps/github-compiler/pipeline";
import type { Source } from "@steps/model/diagnostic";
import type { InstanceName, JobResults, PipelineJob } from "@steps/pipeline";
import type { WorkflowFacts } from "../../input/read-workflow-job.ts";
import type { PipelineContext } from "../pipeline-context.ts";
import type { CalledWorkflows, WorkflowOrigin } from "./called-workflows.ts";

/** The state that the jobs of a workflow share, with the artifacts that they hand on. */
export interface WorkflowContext extends PipelineContext {
  /** The folder that the jobs hand artifacts on in: absolute. */
  readonly artifactDir: string;
  readonly artifacts: NonNullable<GithubOptions["artifacts"]>;
  readonly workflows: CalledWorkflows;
  /** The number of jobs that were planned, with those of all workflows that are called. */
  readonly count: { jobs: number };
}

/** A workflow of a pipeline: the outermost one, or one that a job calls. */
export interface Workflow {
  readonly source: Source;
  readonly plan: PlannedWorkflow;
  readonly origin: WorkflowOrigin;
  readonly facts: WorkflowFacts;
  /** The secrets that its jobs can grant, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The names of the calling jobs, each with ` / ` behind it; empty for the outermost workflow. */
  readonly path: string;
  /** The concurrency groups that are held while it runs. */
  readonly heldGroups: ReadonlySet<string>;
  readonly depth: number;
}

/** The work of an instance, and its names. */
export interface InstanceOf<Work> {
  readonly work: Work;
  readonly of: InstanceName;
}

/** Runs jobs of a workflow in their order. */
export type RunJobs = (
  context: WorkflowContext,
  workflow: Workflow,
  jobs: readonly PipelineJob<WorkflowWork>[],
  signal: AbortSignal,
) => Promise<JobResults>;
