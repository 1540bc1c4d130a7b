import type { Value } from "@steps/model";

/** What a working copy says of itself, for jobs outside of CI. */
export interface GitFacts {
  readonly sha?: string;
  /** Of the branch or tag, without `refs/heads/`. */
  readonly refName?: string;
  readonly isTag?: boolean;
  /** `owner/repo`, of the remote. */
  readonly repository?: string;
  /** Of the committer. */
  readonly user?: string;
}

/** What CI variables do not say, or what is to win over them. */
export interface GithubFacts {
  readonly workspace: string;
  /** Without them: github.com's, since actions take other hosts for GitHub Enterprise and do less. */
  readonly serverUrl?: string;
  readonly apiUrl?: string;
  readonly graphqlUrl?: string;
  /** Empty without it: the job's own token is never handed over. */
  readonly token?: string;
  /** Where the event is written as JSON. */
  readonly eventPath?: string;
  /** The event itself, in the place of what the variables say. */
  readonly event?: Value;
  readonly eventName?: string;
  readonly actor?: string;
  /** The name of the workflow. */
  readonly workflow?: string;
  /** The path of its file in the repository. */
  readonly workflowPath?: string;
  /** The id of the job. */
  readonly job?: string;
  readonly runnerTemp: string;
  /** Unless `RUNNER_TOOL_CACHE` or `AGENT_TOOLSDIRECTORY` says another. */
  readonly toolCache: string;
  /** Unless CI has one. */
  readonly runnerName: string;
  /** As `process.platform` has it, or as GitHub has it. */
  readonly os: string;
  /** As `process.arch` has it, or as GitHub has it. */
  readonly arch: string;
  readonly isDebug?: boolean;
  readonly gitFacts?: GitFacts;
}
