import type { Value } from "@steps/model";
import { toCiText } from "../load/ci-value.ts";
import { keywordValue, type LoadedJob } from "../load/loaded-pipeline.ts";

/** A job that starts another pipeline ([trigger](https://docs.gitlab.com/ci/yaml/#trigger)). */
export interface Trigger {
  /** The items of `include`: the child pipeline is what they make together. Empty for a pipeline of another project. */
  readonly include: readonly Value[];
  /** The inputs of all of them. */
  readonly inputs: Readonly<Record<string, Value>> | undefined;
  /** The project whose pipeline it starts; absent for a child pipeline. */
  readonly project: string | undefined;
  /** Whether the job ends with the pipeline that it starts, and as it ends: `strategy: depend`. */
  readonly isDepending: boolean;
  /** Whether the variables of the job are variables of the pipeline that it starts. */
  readonly forwardsJobVariables: boolean;
  /** Whether the variables that this pipeline was given are given to the other one. */
  readonly forwardsPipelineVariables: boolean;
}

/** Reads `trigger`; `undefined` for a job without. Its shape was checked. */
export function readTrigger(job: LoadedJob): Trigger | undefined {
  const value = job.own.has("trigger") ? keywordValue(job, "trigger") : undefined;
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) return { ...NOTHING, project: toCiText(value) };
  const { include, project, strategy, forward, inputs } = value;
  const { yaml_variables: ofJob, pipeline_variables: ofPipeline } = isObject(forward) ? forward : {};
  return {
    include: include === undefined || include === null ? [] : Array.isArray(include) ? include : [include],
    inputs: isObject(inputs) ? inputs : undefined,
    project: typeof project === "string" ? project : undefined,
    isDepending: strategy === "depend" || strategy === "mirror",
    forwardsJobVariables: ofJob !== false,
    forwardsPipelineVariables: ofPipeline === true,
  };
}

const NOTHING: Trigger = {
  include: [],
  inputs: undefined,
  project: undefined,
  isDepending: false,
  forwardsJobVariables: true,
  forwardsPipelineVariables: false,
};

function isObject(value: Value | undefined): value is Readonly<Record<string, Value>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
