import type { PlannedJob, PlannedPipeline } from "@steps/gitlab-ci/pipeline";
import type { LoadedPipeline } from "@steps/gitlab-ci/load";
import type { Situation } from "@steps/gitlab-ci/rules";
import type { PipelineFacts, Variable } from "@steps/gitlab-ci/variables";
import type { JobStores } from "../../files/job-stores.ts";
import type { PipelineContext } from "../pipeline-context.ts";

/** A pipeline of a CI file that is planned: the outermost one, or a child. */
export interface CiPipeline {
  readonly loaded: LoadedPipeline;
  readonly planned: PlannedPipeline;
  readonly situation: Situation;
  readonly facts: PipelineFacts;
  /** The variables that it was given: by the user, or by the job that starts it. */
  readonly given: ReadonlyMap<string, Variable>;
  /** The URL of the remote `origin`, from whose server a child may include. Absent without one. */
  readonly originUrl: string | undefined;
  /** The file, as it was named. */
  readonly file: string;
  /** The names of the jobs that started it, each with ` / ` behind it; empty for the outermost pipeline. */
  readonly path: string;
  /** The pipeline of the job that started it; absent for the outermost one. */
  readonly parent?: CiPipeline | undefined;
  /** The number of pipelines around it. */
  readonly depth: number;
}

/** The facts of a pipeline whose name is known: the same object for all its jobs, whose variables are made of it but once. */
export function withName(facts: PipelineFacts, name: string | undefined): PipelineFacts {
  return { ...facts, run: { ...facts.run, name } };
}

/** The state that the jobs of a pipeline and of its children share. */
export interface CiContext extends PipelineContext {
  /** The folders in which its jobs keep files. */
  readonly stores: JobStores;
  /** The children that nobody waits for; the run ends when they have ended. */
  readonly background: Promise<unknown>[];
}

/** A job that starts a child pipeline. */
export type TriggerJob = PlannedJob & { readonly trigger: NonNullable<PlannedJob["trigger"]> };
