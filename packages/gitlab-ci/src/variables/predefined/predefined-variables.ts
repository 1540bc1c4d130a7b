import { plainVariables, type Variable } from "../collect-variables.ts";
import type { Sha256 } from "../slugs.ts";
import { commitVariables } from "./commit-variables.ts";
import type { JobFacts, PipelineFacts, RunnerFacts } from "./facts.ts";
import {
  environmentVariables,
  jobPredefinedVariables,
  persistedEnvironmentVariables,
  persistedVariables,
  runnerVariables,
} from "./job-predefined-variables.ts";
import {
  dependencyProxyVariables,
  mergeRequestVariables,
  pipelineVariables,
  userVariables,
} from "./pipeline-variables.ts";
import { projectVariables } from "./project-variables.ts";
import type { PredefinedValues } from "./values.ts";

/** Predefined variables in the sources that they belong to, as `collectVariables()` takes them. */
export interface PredefinedSources {
  readonly predefined: ReadonlyMap<string, Variable>;
  readonly user: ReadonlyMap<string, Variable>;
  readonly environment: ReadonlyMap<string, Variable>;
}

/** The options of `predefinedVariables()`. */
export interface PredefinedOptions {
  readonly pipeline: PipelineFacts;
  /** The job; absent for what holds for the whole pipeline, as `workflow:rules` and `include` see it. */
  readonly job?: JobFacts | undefined;
  /** The runner of the job. Absent while its rules are decided. */
  readonly runner?: RunnerFacts | undefined;
  /** Needed for a job with an environment, whose slug may hold a part of a digest. */
  readonly sha256?: Sha256 | undefined;
}

/**
 * The predefined variables that have a true value: of what a repository, its remote and the situation say. What only a server knows
 * (numbers of projects, tokens, versions) is not set, rather than invented. The values are taken as they stand: a dollar in a
 * commit's message is a dollar.
 */
export function predefinedVariables({ pipeline, job, runner, sha256 }: PredefinedOptions): PredefinedSources {
  const environment = job?.environment;
  const shared = sharedVariables(pipeline);
  const own = { ...(job && jobPredefinedVariables(job)), ...(environment && environmentVariables(environment)) };
  const ofRunner = runner && { ...persistedVariables(pipeline, job), ...runnerVariables(runner) };
  const persisted = environment && sha256 ? persistedEnvironmentVariables(environment, sha256) : {};
  return {
    predefined: new Map([...known(own), ...shared.predefined, ...known(ofRunner ?? {})]),
    user: shared.user,
    environment: known(persisted),
  };
}

type SharedVariables = Pick<PredefinedSources, "predefined" | "user">;

const ofPipelines = new WeakMap<PipelineFacts, SharedVariables>();

// A pipeline may have ten thousand jobs, and what all of them see is most of what there is.
function sharedVariables(pipeline: PipelineFacts): SharedVariables {
  const made = ofPipelines.get(pipeline) ?? {
    predefined: known({
      ...projectVariables(pipeline.project),
      ...pipelineVariables(pipeline),
      ...commitVariables(pipeline),
      ...mergeRequestVariables(pipeline),
      ...dependencyProxyVariables(pipeline),
    }),
    user: known(userVariables(pipeline.user ?? {})),
  };
  ofPipelines.set(pipeline, made);
  return made;
}

function known(values: PredefinedValues): ReadonlyMap<string, Variable> {
  const entries = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return plainVariables(Object.fromEntries(entries));
}
