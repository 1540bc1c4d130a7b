import { UsageError } from "@steps/console";
import type { PipelineOptions } from "./pipeline-flags.ts";
import { runPipelineFile } from "./run-pipeline-file.ts";

/** The flags of a pipeline that a command for one job does not have. */
type OfPipeline = "jobs" | "only" | "stage" | "start" | "delay" | "list" | "graph" | "inPlace";

/** The options of a command that runs one job and, before it, all that it needs. */
export type WithNeedsOptions = Omit<PipelineOptions, OfPipeline> & {
  readonly jobName: string | undefined;
  /** The inputs of that job. */
  readonly jobInput: Readonly<Record<string, string>>;
  /** Default: each job has a copy of the project. */
  readonly inPlace?: boolean;
};

/** Runs a job after those that it needs, as a pipeline of them. Gives the exit code. @throws {UsageError} */
export function runWithNeeds(
  { jobName, inPlace = false, ...options }: WithNeedsOptions,
  path: string,
): Promise<number> {
  if (jobName === undefined) throw new UsageError("--needs is given", "Name the job with --job-name.");
  return runPipelineFile(
    {
      ...options,
      jobs: undefined,
      only: [jobName],
      stage: [],
      start: [],
      delay: true,
      list: false,
      graph: undefined,
      inPlace,
    },
    path,
  );
}
