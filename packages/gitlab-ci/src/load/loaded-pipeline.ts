import type { Value } from "@steps/model";
import type { Position, Source } from "@steps/model/diagnostic";
import type { YamlEntry, YamlMapping, YamlNode } from "@steps/source";
import { positionOfNode } from "./position-of.ts";
import { toCiValue } from "./ci-value.ts";

/**
 * A configuration as it is after everything was put together. The values are nodes: each knows the file and the place where it
 * was written, whether it came by `include`, `extends`, `!reference`, `default` or an input, which has the place of its `$[[ ]]`.
 * `toCiValue()` gives the plain value of a node, `spanPosition()` its place.
 */
export interface LoadedPipeline {
  /** Everything at the top of the merged configuration, hidden jobs too. */
  readonly root: YamlMapping;
  /** The stages in their order, with `.pre` and `.post`. */
  readonly stages: readonly string[];
  /** The jobs that can run, by name, in the order of the configuration: an instance of `parallel` is a job of its own. */
  readonly jobs: ReadonlyMap<string, LoadedJob>;
  /** The jobs by the name that is written in the configuration, which `needs` and `dependencies` may use. */
  readonly groups: ReadonlyMap<string, readonly LoadedJob[]>;
  /** The variables of all jobs; absent when there are none. */
  readonly variables: YamlNode | undefined;
  /** Absent when there is none. */
  readonly workflow: YamlNode | undefined;
  /** The files in the order in which they were included, that of the pipeline first. */
  readonly sources: readonly Source[];
}

/** One instance of `parallel`. */
export interface JobInstance {
  /** `CI_NODE_INDEX`, from 1. */
  readonly index: number;
  /** `CI_NODE_TOTAL`. */
  readonly total: number;
  /** The variables of a combination of a `matrix`; empty for a number. */
  readonly variables: ReadonlyMap<string, YamlNode>;
}

/** A job with what it inherits. */
export interface LoadedJob {
  /** With the instance: `test 1/3`, `test: [a, b]`. */
  readonly name: string;
  /** `CI_JOB_GROUP_NAME`: the name that is written in the configuration. */
  readonly groupName: string;
  readonly stage: string;
  /** The place of the name. */
  readonly key: YamlNode;
  /** Its own keywords, with those of what it extends. */
  readonly own: ReadonlyMap<string, YamlEntry>;
  /** Its own keywords and those of `default` that it inherits; `null` is not among them. */
  readonly keywords: ReadonlyMap<string, YamlEntry>;
  /** Says whether the job takes a variable of the top of the configuration. */
  readonly inheritsVariable: (name: string) => boolean;
  /** Absent for a job without `parallel`. */
  readonly instance: JobInstance | undefined;
}

/** The job or the instance of that name; the name without an instance stands for the job as it is written. */
export function jobNamed({ jobs, groups }: LoadedPipeline, name: string): LoadedJob | undefined {
  const [first] = groups.get(name) ?? [];
  return jobs.get(name) ?? (first === undefined ? undefined : { ...first, name, instance: undefined });
}

/** The plain value of a keyword of a job, own or inherited; `undefined` when it has none. */
export function keywordValue(job: LoadedJob, keyword: string): Value | undefined {
  const entry = job.keywords.get(keyword);
  return entry === undefined ? undefined : toCiValue(entry.value);
}

/** The place of a part of a job by the names and indices that lead to it: `["script", 0]`. A part that does not exist has the place of the nearest part around it. */
export function keywordPosition(job: LoadedJob, path: readonly (string | number)[]): Position {
  const [keyword, ...rest] = path;
  const entry = typeof keyword === "string" ? job.keywords.get(keyword) : undefined;
  return positionOfNode(entry?.value ?? job.key, entry === undefined ? [] : rest);
}
