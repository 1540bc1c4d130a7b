import { mintBuildToken } from "@steps/pod-tokens";
import { FAILURE_REASONS } from "@steps/runner-api";
import { type JobPayload, PAYLOAD } from "@steps/runner-api/job";
import type { Bound } from "../pipelines/bind-jobs.ts";
import type { Pod } from "../pod/pod.ts";
import type { ClaimedJob } from "../queue/claim-jobs.ts";
import type { Runner } from "../runners/runner.ts";

/** The starts of tokens that no trace may show. */
const MASKED_PREFIXES = ["glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-"];

/** The values that are the same for every job, where its definition says nothing. */
const DEFAULTS = {
  allow_git_fetch: true,
  variables: [],
  steps: [],
  hooks: [],
  image: null,
  services: [],
  artifacts: [],
  cache: [],
  credentials: [],
  dependencies: [],
  secrets: {},
};

/** A job as its runner gets it, with a token for this attempt. */
export interface CompletedPayload {
  readonly json: string;
  readonly token: string;
}

/** The part of a runner that its jobs are told. */
type PayloadRunner = Pick<Runner, "id" | "description" | "tags">;

/** Puts the payload of a claimed job together. @throws when what was stored makes none */
export function completePayload(pod: Pod, job: ClaimedJob, runner: PayloadRunner, managerId: number): CompletedPayload {
  const bound = job.bound as Bound;
  const token = mintBuildToken(pod.keys.active, {
    issuer: pod.issuer,
    jobId: job.id,
    routing: { pod: pod.settings.pod, group: job.group_ids[0], project: job.project_id },
    podName: `pod-${pod.settings.pod}`,
    runnerId: runner.id,
    managerId,
    attempt: job.attempt,
    now: Date.now() / 1000,
    timeoutSeconds: job.timeout_s,
    dependencies: isShort(bound) ? bound.dependencies?.map(({ id }) => id) : undefined,
  });
  const given = { ...DEFAULTS, ...job.payload } as unknown as JobPayload;
  const payload: JobPayload = {
    ...given,
    id: job.id,
    token,
    job_info: aboutJob(pod, job),
    runner_info: { timeout: job.timeout_s, uuid: String(runner.id), runner_session_url: null },
    variables: [...given.variables, ...(bound.variables ?? []), ...ownVariables(pod, job, runner, token)],
    dependencies: (bound.dependencies ?? []).map((dependency) => ({ ...dependency, token })),
    features: {
      trace_sections: true,
      token_mask_prefixes: MASKED_PREFIXES,
      failure_reasons: FAILURE_REASONS,
      ...(given.features as object | undefined),
    },
  };
  return { json: PAYLOAD.write(payload), token };
}

/** The most jobs that a token names: it travels in headers and variables. Which others its job gets artifacts from, the job's row says. */
const MAX_NAMED = 50;

function isShort({ dependencies = [] }: Bound): boolean {
  return dependencies.length <= MAX_NAMED;
}

function aboutJob(pod: Pod, job: ClaimedJob): JobPayload["job_info"] {
  return {
    id: job.id,
    name: job.name,
    stage: job.stage,
    pipeline_id: job.pipeline_id,
    project_id: job.project_id,
    project_name: job.project_path.slice(job.project_path.lastIndexOf("/") + 1),
    project_full_path: job.project_path,
    namespace_id: job.group_ids.at(-1) ?? job.project_id,
    root_namespace_id: job.group_ids[0] ?? job.project_id,
    organization_id: 1,
    instance_id: String(pod.settings.pod),
    instance_uuid: pod.uuid,
    user_id: 1,
    scoped_user_id: null,
    time_in_queue_seconds: Math.max(0, job.waited_s),
    project_jobs_running_on_instance_runners_count: String(job.active),
    queue_size: 0,
    queue_depth: 0,
  };
}

/** The values that are known only now. They stand last, so that no definition can say otherwise. */
function ownVariables(pod: Pod, job: ClaimedJob, runner: PayloadRunner, token: string): JobPayload["variables"] {
  const plain = {
    CI_JOB_ID: String(job.id),
    CI_JOB_NAME: job.name,
    CI_JOB_STAGE: job.stage,
    CI_JOB_STARTED_AT: new Date().toISOString(),
    CI_PIPELINE_ID: String(job.pipeline_id),
    CI_PIPELINE_IID: String(job.pipeline_id),
    CI_RUNNER_ID: String(runner.id),
    CI_RUNNER_DESCRIPTION: runner.description,
    CI_RUNNER_TAGS: JSON.stringify(runner.tags),
    ...projectVariables(job),
    ...serverVariables(pod.settings.url ?? ""),
  };
  const shown = Object.entries(plain).map(([key, value]) => variable(key, value, false));
  return [...shown, variable("CI_JOB_TOKEN", token, true)];
}

function projectVariables({ project_id: id, project_path: path }: ClaimedJob): Readonly<Record<string, string>> {
  const parts = path.split("/");
  return {
    CI_PROJECT_ID: String(id),
    CI_PROJECT_PATH: path,
    CI_PROJECT_NAME: parts.at(-1) ?? path,
    CI_PROJECT_NAMESPACE: parts.slice(0, -1).join("/"),
    CI_PROJECT_ROOT_NAMESPACE: parts[0] ?? path,
    CI_PROJECT_PATH_SLUG: slugOf(path),
  };
}

// As GitLab's server makes one: https://docs.gitlab.com/ci/variables/predefined_variables/
function slugOf(path: string): string {
  const dashed = path.toLowerCase().replaceAll(/[^a-z0-9]/g, "-");
  return dashed.slice(0, 63).replaceAll(/^-+|-+$/g, "");
}

function serverVariables(url: string): Readonly<Record<string, string>> {
  const { protocol, hostname, host, port } = URL.parse(url) ?? new URL("http://localhost");
  return {
    CI_SERVER_URL: url,
    CI_SERVER_PROTOCOL: protocol.slice(0, -1),
    CI_SERVER_HOST: hostname,
    CI_SERVER_PORT: port === "" ? ({ "https:": "443" }[protocol] ?? "80") : port,
    CI_SERVER_FQDN: host,
    CI_API_V4_URL: `${url}/api/v4`,
  };
}

function variable(key: string, value: string, masked: boolean): JobPayload["variables"][number] {
  return { key, value, public: !masked, masked, file: false, raw: true };
}
