/** The headers of the API, in lower case, as Node gives them. */
export const HEADERS = {
  /** The token of a runner, sent by gitlab-runner 17.11 and later besides the body's. */
  runnerToken: "runner-token",
  /** The token of a job. */
  jobToken: "job-token",
  /** The token of a user; gitlab-runner 16.10 to 17.10 sent its own under this name. */
  privateToken: "private-token",
  /** The ticket of the queue: the runner sends it back as `last_update`. */
  lastUpdate: "x-gitlab-last-update",
  /** The job's state, on every answer about a job, 403 included. */
  jobStatus: "job-status",
  /** Whole seconds between two patches of the trace. */
  traceInterval: "x-gitlab-trace-update-interval",
  requestId: "x-request-id",
  /** Whole seconds only: gitlab-runner reads no date. */
  retryAfter: "retry-after",
} as const;

/** The `Job-Status` values by which a runner stops: at once, or after `after_script`. */
export const STOPPING = { now: ["canceled", "failed"], gracefully: ["canceling"] } as const;

/** The reasons for a failure that a runner may report. The server says in `features.failure_reasons` which it knows. */
export const FAILURE_REASONS = [
  "script_failure",
  "runner_system_failure",
  "job_execution_timeout",
  "image_pull_failure",
  "unknown_failure",
  "runner_configuration_error",
  "runner_external_dependency_failure",
  "runner_interrupted",
] as const;

/** A reason for a failure. */
export type FailureReason = (typeof FAILURE_REASONS)[number];

/**
 * The reason to send to a server that knows only `known`, as gitlab-runner translates it: the first three are always known.
 */
export function reasonFor(reason: FailureReason, known: readonly string[]): FailureReason {
  if (FAILURE_REASONS.indexOf(reason) < 3 || known.includes(reason)) return reason;
  if (reason === "image_pull_failure" || reason === "runner_external_dependency_failure") {
    return "runner_system_failure";
  }
  return reason === "runner_configuration_error" ? "script_failure" : "unknown_failure";
}

/** The paths of the API below the base URL, which ends in `/api/v4`. */
export const PATHS = {
  runners: "/runners",
  verify: "/runners/verify",
  managers: "/runners/managers",
  resetToken: "/runners/reset_authentication_token",
  discovery: "/runners/router/discovery",
  userRunners: "/user/runners",
  request: "/jobs/request",
  job: (id: number): string => `/jobs/${id}`,
  trace: (id: number): string => `/jobs/${id}/trace`,
  artifacts: (id: number): string => `/jobs/${id}/artifacts`,
} as const;

/**
 * The base of the API for the URL that a user gives: slashes at the end and a trailing `/ci` do not count, a path before
 * them stays. `https://host/sub/` → `https://host/sub/api/v4`.
 */
export function apiBase(url: string): string {
  const path = url.replace(/\/+$/u, "").replace(/\/ci$/u, "").replace(/\/+$/u, "");
  return `${path}/api/v4`;
}

/** Bounds of what one message may hold, in bytes. */
export const MESSAGE_LIMITS: {
  readonly request: number;
  readonly update: number;
  readonly payload: number;
  readonly patch: number;
} = {
  /** The limit of a runner's request, which is small; GitLab's own front accepts no more either. */
  request: 32 * 1024,
  /** The limit of an update: old clients send the whole trace in it. */
  update: 8 * 1024 * 1024,
  /** The limit of a payload: variables may hold files. */
  payload: 64 * 1024 * 1024,
  /** The limit of one patch of a trace. */
  patch: 1024 * 1024,
};

/** The seconds of a `Retry-After`, if it has whole ones. */
export function readSeconds(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,9}$/u.test(header.trim()) ? Number(header) : undefined;
}

/** The form of a system id: `s_` or `r_` and 12 letters and digits. */
export const SYSTEM_ID_PATTERN: RegExp = /^[sr]_[0-9A-Za-z]{12}$/u;

/** The start of the token of a runner that was created on the server, for which `register` asks to verify. */
export const RUNNER_TOKEN_PREFIX = "glrt-";
