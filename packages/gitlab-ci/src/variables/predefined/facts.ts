import type { Remote } from "./remote.ts";

/** The project that a pipeline is of. */
export interface ProjectFacts {
  /** The place of the repository on its server; absent for a repository without a remote. */
  readonly remote?: Remote | undefined;
  /** The name of the folder, for a project without a remote. */
  readonly folder: string;
  /** The branch that others start from; absent when it is not known. */
  readonly defaultBranch?: string | undefined;
  /** The path of the configuration from the top of the repository; `.gitlab-ci.yml` by default. */
  readonly configPath?: string | undefined;
  /** The host and port of the registry of images; known of gitlab.com by default, absent of all others. */
  readonly registry?: string | undefined;
  /** The domain of GitLab Pages; known of gitlab.com by default, absent of all others. */
  readonly pagesDomain?: string | undefined;
}

/** The commit that a pipeline runs for. */
export interface CommitFacts {
  /** 40 hexadecimal digits, or 64 in a repository of SHA-256. */
  readonly sha: string;
  /** The commit that the branch was at before; absent where there was none, and for all but pushes to a branch. */
  readonly beforeSha?: string | undefined;
  /** The whole message, as git keeps it. */
  readonly message: string;
  /** `Name <address>` of the author. */
  readonly author: string;
  /** When it was committed, ISO 8601 with the offset of the committer: `2026-01-31T12:00:00+01:00`. */
  readonly timestamp: string;
  /** The message of the tag that the pipeline is of; absent for a tag without one and where there is no tag. */
  readonly tagMessage?: string | undefined;
}

/** The merge request that a pipeline is of. */
export interface MergeRequestFacts {
  readonly sourceBranch: string;
  readonly targetBranch: string;
  /** The newest commit that both branches have; absent when there is none. */
  readonly baseSha?: string | undefined;
  /** The number of the merge request in its project; absent when it is only thought of. */
  readonly iid?: number | undefined;
  readonly title?: string | undefined;
}

/** The event that started a pipeline, and the branch, tag or merge request that it runs for. */
export interface RunFacts {
  /** As in `CI_PIPELINE_SOURCE`: `push`, `merge_request_event`, `schedule`, `web`, … */
  readonly source: string;
  /** The name of the branch or tag; absent when neither is checked out. */
  readonly ref?: string | undefined;
  /** Whether `ref` is a tag. */
  readonly isTag: boolean;
  /** Whether the ref is protected; the default branch is unless it is said. */
  readonly isProtected?: boolean | undefined;
  /** The number of the pipeline; 1 by default. */
  readonly id?: number | undefined;
  /** When it was created, ISO 8601 in UTC to the second: `2026-01-31T11:00:00Z`. Absent where two runs are to have equal variables. */
  readonly createdAt?: string | undefined;
  /** `workflow:name`; absent without one. */
  readonly name?: string | undefined;
}

/** Who started a pipeline. What is not known is absent. */
export interface UserFacts {
  readonly login?: string | undefined;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

/** All that is known when a pipeline starts on a machine. */
export interface PipelineFacts {
  readonly project: ProjectFacts;
  /** Absent for a repository without commits. */
  readonly commit?: CommitFacts | undefined;
  readonly run: RunFacts;
  /** Present exactly when the source is `merge_request_event`. */
  readonly mergeRequest?: MergeRequestFacts | undefined;
  readonly user?: UserFacts | undefined;
}

/** A job of the pipeline. */
export interface JobFacts {
  /** The name of the job; that of the instance for one with `parallel`: `test: [linux]`. */
  readonly name: string;
  readonly stage: string;
  /** True for a job that is started by hand. Default: false. */
  readonly isManual?: boolean | undefined;
  /** The place among the instances of the job, from 1; absent for a job that has one instance. */
  readonly nodeIndex?: number | undefined;
  /** The number of instances; 1 by default. */
  readonly nodeTotal?: number | undefined;
  /** The number of the job; 1 by default. */
  readonly id?: number | undefined;
  /** `image`, with variables filled in; absent without one. */
  readonly image?: string | undefined;
  /** In seconds; absent for a job without a limit. */
  readonly timeoutSeconds?: number | undefined;
  readonly environment?: EnvironmentFacts | undefined;
}

/** The environment of a job, with variables filled in. */
export interface EnvironmentFacts {
  readonly name: string;
  readonly url?: string | undefined;
  /** `start` by default. */
  readonly action?: string | undefined;
  /** `deployment_tier`; by default what GitLab guesses from the name. */
  readonly tier?: string | undefined;
}

/** The runner of a job. */
export interface RunnerFacts {
  /** The absolute path of the project's folder as the job sees it. */
  readonly projectDir: string;
  /** The folder around it. */
  readonly buildsDir: string;
  /** Whether the job has the machine, or a container of it, for itself. */
  readonly isDisposable: boolean;
  /** The version of the runner. */
  readonly version?: string | undefined;
  /** The system and the processor, `linux/amd64`. */
  readonly architecture?: string | undefined;
}
