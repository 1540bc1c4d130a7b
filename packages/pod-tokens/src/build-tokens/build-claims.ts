import type { Routing } from "../routing.ts";

/** The right to do one thing: with the job itself, with a registry (`registry:pull`), or with the API of the pod (`api:read`). */
export type BuildScope =
  | "job:update"
  | "trace:append"
  | "artifacts:write"
  | "artifacts:read"
  | `registry:${string}`
  | `api:${string}`;

/** All that a job's runner does with the pod. */
export const JOB_SCOPES: readonly BuildScope[] = ["job:update", "trace:append", "artifacts:write", "artifacts:read"];

/** The claims of a job's token, in words. Times are whole seconds since 1970. */
export interface BuildClaims {
  /** The URL of the pod that signed the token. */
  readonly issuer: string;
  readonly jobId: number;
  /** A random id of the token, that names it in logs and never opens anything. */
  readonly tokenId: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** The place that the token belongs to: pod, organization, group, project and user. */
  readonly routing: Routing & { readonly pod: number };
  /** The pod's name for readers. */
  readonly podName?: string | undefined;
  readonly runnerId?: number | undefined;
  /** The machine of the runner: the id of its runner manager. */
  readonly managerId?: number | undefined;
  /** How often the job has been given to a runner, this time included: a token of an earlier attempt is worth nothing. */
  readonly attempt: number;
  readonly scopes: readonly BuildScope[];
  /** The jobs whose artifacts may be read besides the job's own. */
  readonly dependencies: readonly number[];
}

/** The prefix of a job's token, as GitLab's scanners of secrets know it. */
export const BUILD_TOKEN_PREFIX = "glcbt-";

/** Who the tokens are for, so that a token of the same keys for another purpose is worth nothing here. */
export const BUILD_TOKEN_AUDIENCE = "ci-job";
