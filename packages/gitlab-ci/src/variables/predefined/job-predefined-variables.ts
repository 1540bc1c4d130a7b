import { environmentSlug, jobGroupName, type Sha256, slugify } from "../slugs.ts";
import type { EnvironmentFacts, JobFacts, PipelineFacts, RunnerFacts } from "./facts.ts";
import type { PredefinedValues } from "./values.ts";

/** The variables of a job. */
export function jobPredefinedVariables(job: JobFacts): PredefinedValues {
  const { name, stage, isManual = false, nodeIndex, nodeTotal = 1 } = job;
  return {
    CI_JOB_NAME: name,
    CI_JOB_NAME_SLUG: slugify(name),
    CI_JOB_GROUP_NAME: jobGroupName(name),
    CI_JOB_STAGE: stage,
    CI_JOB_MANUAL: isManual ? "true" : undefined,
    CI_NODE_INDEX: nodeIndex === undefined ? undefined : String(nodeIndex),
    CI_NODE_TOTAL: String(nodeTotal),
  };
}

/** The variables of a job's environment that its rules can see. */
export function environmentVariables({ name, url, action = "start", tier }: EnvironmentFacts): PredefinedValues {
  return {
    CI_ENVIRONMENT_NAME: name,
    CI_ENVIRONMENT_ACTION: action,
    CI_ENVIRONMENT_TIER: tier ?? guessTier(name),
    CI_ENVIRONMENT_URL: url,
  };
}

/** The variables that GitLab adds once the environment exists. They win over all others. */
export function persistedEnvironmentVariables({ name, url }: EnvironmentFacts, sha256: Sha256): PredefinedValues {
  return { CI_ENVIRONMENT_NAME: name, CI_ENVIRONMENT_SLUG: environmentSlug(name, sha256), CI_ENVIRONMENT_URL: url };
}

const TIERS: readonly (readonly [pattern: RegExp, tier: string])[] = [
  [/dev|review|trunk/i, "development"],
  [/test|tst|int|acc?pt|acept|qa|qc|control|quality/i, "testing"],
  [/sta?g|mode?l|pre|demo|non/i, "staging"],
  [/pro?d|live/i, "production"],
];

function guessTier(name: string): string {
  return TIERS.find(([pattern]) => pattern.test(name))?.[1] ?? "other";
}

/** The variables that exist once the pipeline and the job are stored, and those of the job that the runner adds. Rules cannot see them. */
export function persistedVariables({ run, project }: PipelineFacts, job: JobFacts | undefined): PredefinedValues {
  const { id, image, timeoutSeconds } = job ?? {};
  return {
    CI_PIPELINE_ID: String(run.id ?? 1),
    CI_REPOSITORY_URL: project.remote?.url,
    CI_JOB_ID: String(id ?? 1),
    CI_JOB_IMAGE: image,
    CI_JOB_TIMEOUT: timeoutSeconds === undefined ? undefined : String(timeoutSeconds),
  };
}

/** The variables that the runner adds. Rules cannot see them. */
export function runnerVariables(runner: RunnerFacts): PredefinedValues {
  const { projectDir, buildsDir, isDisposable, version, architecture } = runner;
  return {
    CI_BUILDS_DIR: buildsDir,
    CI_PROJECT_DIR: projectDir,
    CI_CONCURRENT_ID: "0",
    CI_CONCURRENT_PROJECT_ID: "0",
    CI_SERVER: "yes",
    CI_SHARED_ENVIRONMENT: isDisposable ? undefined : "true",
    CI_DISPOSABLE_ENVIRONMENT: isDisposable ? "true" : undefined,
    CI_RUNNER_VERSION: version,
    CI_RUNNER_EXECUTABLE_ARCH: architecture,
  };
}
