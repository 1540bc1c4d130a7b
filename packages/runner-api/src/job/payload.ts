import type { ImageSpec } from "./image.ts";
import type { JobInput } from "./input.ts";
import type { GitInfo, JobFeatures, JobInfo, RunnerInfoOfJob } from "./about.ts";

/** A job as a server hands it out with status 201. Names and types are those of the wire. */
export interface JobPayload {
  readonly id: number;
  /** The token of the job. It stands for this attempt, and is sent as `JOB-TOKEN` from here on. */
  readonly token: string;
  readonly allow_git_fetch: boolean;
  readonly job_info: JobInfo;
  readonly git_info: GitInfo;
  readonly runner_info: RunnerInfoOfJob;
  /** Later ones of the same name count more. */
  readonly variables: readonly JobVariable[];
  /** The scripts; empty for a job with `run`. */
  readonly steps: readonly ScriptStep[];
  readonly hooks: readonly JobHook[];
  readonly image: ImageSpec | null;
  readonly services: readonly ImageSpec[];
  readonly artifacts: readonly ArtifactSpec[];
  readonly cache: readonly CacheSpec[];
  /** For the registries of images. */
  readonly credentials: readonly RegistryCredential[];
  /** The jobs whose artifacts are unpacked before the scripts. */
  readonly dependencies: readonly JobDependency[];
  readonly features: JobFeatures;
  /** Absent for a job without inputs. */
  readonly inputs?: readonly JobInput[] | undefined;
  /** By the name of their variable: where a secret is to be had. */
  readonly secrets: Readonly<Record<string, unknown>>;
  /** The steps of a job with `run`: a text with a JSON list. Never written as null, which gitlab-runner cannot read. */
  readonly run?: string | undefined;
  readonly policy_options?: Readonly<Record<string, unknown>> | undefined;
  readonly suspend_options?: Readonly<Record<string, unknown>> | undefined;
}

/** A variable of a job. */
export interface JobVariable {
  readonly key: string;
  readonly value: string;
  /** Whether values may be shown to whoever sees the project. */
  readonly public: boolean;
  /** The value never appears in the trace. */
  readonly masked: boolean;
  /** The variable holds the path of a file with the value. */
  readonly file: boolean;
  /** The value is taken as it is: `$NAME` in it stays. */
  readonly raw: boolean;
}

/** A script. */
export interface ScriptStep {
  /** `script` (with `before_script`), `after_script`, or `release`. */
  readonly name: string;
  readonly script: readonly string[];
  /** Seconds. */
  readonly timeout: number;
  readonly when: string;
  readonly allow_failure: boolean;
}

/** A script around the checkout. */
export interface JobHook {
  /** `pre_get_sources_script` or `post_get_sources_script`. */
  readonly name: string;
  readonly script: readonly string[];
}

/** Files that the job leaves. */
export interface ArtifactSpec {
  readonly name: string;
  readonly untracked: boolean;
  readonly paths: readonly string[];
  readonly exclude: readonly string[];
  /** `on_success`, `on_failure` or `always`; empty: the first. */
  readonly when: string;
  readonly artifact_type: string;
  readonly artifact_format: string;
  readonly expire_in: string;
}

/** Files that are kept for later jobs with the same key. */
export interface CacheSpec {
  readonly key: string;
  readonly untracked: boolean;
  /** `pull-push`, `pull` or `push`; empty: the first. */
  readonly policy: string;
  readonly paths: readonly string[];
  readonly when: string;
  readonly fallback_keys: readonly string[];
}

/** The name and password for a registry. */
export interface RegistryCredential {
  readonly type: string;
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/** A job that has left artifacts. */
export interface JobDependency {
  readonly id: number;
  /** The token that is sent as `JOB-TOKEN` to get the artifacts: today that of the running job. */
  readonly token: string;
  readonly name: string;
  /** Absent when it has left no archive. */
  readonly artifacts_file?: { readonly filename: string; readonly size: number } | undefined;
}
