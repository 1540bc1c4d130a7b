import type { Value } from "@steps/model";

/** The facts that a working copy tells, for jobs outside of CI. */
export interface GitFacts {
  readonly sha?: string;
  /** The name of the branch or tag, without `refs/heads/`. */
  readonly refName?: string;
  readonly isTag?: boolean;
  /** `owner/repo`, of the remote. */
  readonly repository?: string;
  /** The login of the committer. */
  readonly user?: string;
  readonly defaultBranch?: string;
}

/** Facts that CI variables do not tell, or that take precedence over them. */
export interface GithubFacts {
  readonly workspace: string;
  /** Without them: github.com's, since actions take other hosts for GitHub Enterprise and do less. */
  readonly serverUrl?: string;
  readonly apiUrl?: string;
  readonly graphqlUrl?: string;
  /** Empty without it: the job's own token is never handed over. */
  readonly token?: string;
  /** The path at which the event is written as JSON. */
  readonly eventPath?: string;
  /** The event itself, in the place of what the variables say. */
  readonly event?: Value;
  readonly eventName?: string;
  /** The inputs of `workflow_dispatch`. If the event has none, they are added to it as texts. */
  readonly inputs?: Readonly<Record<string, Value>>;
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
