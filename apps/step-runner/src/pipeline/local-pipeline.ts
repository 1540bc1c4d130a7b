import type { Source } from "@steps/model/diagnostic";
import type { JobResults } from "@steps/pipeline";
import type { PipelineContext } from "./pipeline-context.ts";
import type { GraphNode, ListedJob } from "./print/listed-job.ts";

/** A pipeline of any language, read and planned: what can be shown of it, and how it runs. */
export interface LocalPipeline {
  readonly language: "github" | "gitlab-ci";
  /** The files that it is made of, that of the pipeline first. */
  readonly sources: readonly Source[];
  /** The name that its file gives it; absent without one. */
  readonly name?: string | undefined;
  /** Values of masked variables that its files give. Default: none. */
  readonly maskedValues?: readonly string[] | undefined;
  /** The jobs that are in it, with what they wait for, in the order of the file. */
  readonly graph: readonly GraphNode[];
  /** Every job of the file in the order in which they would run, also those that are left out. */
  readonly list: () => Promise<readonly ListedJob[]>;
  /** Runs the jobs. `undefined`: something that it names cannot be had or is wrong, which was shown. */
  readonly run: (context: PipelineContext) => Promise<JobResults | undefined>;
}
