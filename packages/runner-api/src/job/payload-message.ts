import { type Message, messageOf } from "../shape/message.ts";
import {
  anything,
  count,
  defaulted,
  flag,
  integer,
  list,
  nullable,
  number,
  optional,
  record,
  type Shape,
  table,
  text,
} from "../shape/shape.ts";
import { MESSAGE_LIMITS } from "../names.ts";
import type { GitInfo, JobFeatures, JobInfo, RunnerInfoOfJob } from "./about.ts";
import type { ExecutorOptions, ImageSpec, ImageVariable } from "./image.ts";
import type { JobInput } from "./input.ts";
import type {
  ArtifactSpec,
  CacheSpec,
  JobDependency,
  JobHook,
  JobPayload,
  JobVariable,
  ScriptStep,
} from "./payload.ts";

const words = defaulted(text, "");
const no = defaulted(flag, false);
const zero = defaulted(integer, 0);
const size = defaulted(count, 0);
const object = optional(table(anything));

const jobInfo = record<JobInfo>({
  id: zero,
  name: words,
  stage: words,
  pipeline_id: zero,
  project_id: zero,
  project_name: words,
  project_full_path: words,
  namespace_id: zero,
  root_namespace_id: zero,
  organization_id: zero,
  instance_id: words,
  instance_uuid: words,
  user_id: zero,
  scoped_user_id: nullable(integer),
  time_in_queue_seconds: defaulted(number, 0),
  project_jobs_running_on_instance_runners_count: words,
  queue_size: zero,
  queue_depth: zero,
});

const gitInfo = record<GitInfo>({
  repo_url: words,
  repo_object_format: defaulted(text, "sha1"),
  ref: words,
  sha: words,
  before_sha: words,
  ref_type: words,
  refspecs: list(text),
  depth: size,
  protected: nullable(flag),
});

const runnerInfo = record<RunnerInfoOfJob>({ timeout: size, uuid: words, runner_session_url: nullable(text) });

const features = record<JobFeatures>({
  trace_sections: no,
  token_mask_prefixes: list(text),
  failure_reasons: list(text),
  tracing: object,
});

const variable = record<JobVariable>({ key: text, value: words, public: no, masked: no, file: no, raw: no });

const step = record<ScriptStep>({
  name: text,
  script: list(text),
  timeout: size,
  when: defaulted(text, "on_success"),
  allow_failure: no,
});

const image = record<ImageSpec>({
  name: text,
  alias: words,
  command: list(text),
  entrypoint: list(text),
  ports: list(record({ number: integer, protocol: words, name: words })),
  variables: list(record<ImageVariable>({ key: text, value: words, file: no, raw: no })),
  pull_policy: list(text),
  executor_opts: defaulted(
    record<ExecutorOptions>({
      docker: optional(record({ platform: words, user: words })),
      kubernetes: optional(record({ user: words })),
    }),
    {},
  ),
});

const artifact = record<ArtifactSpec>({
  name: words,
  untracked: no,
  paths: list(text),
  exclude: list(text),
  when: words,
  artifact_type: defaulted(text, "archive"),
  artifact_format: defaulted(text, "zip"),
  expire_in: words,
});

const cache = record<CacheSpec>({
  key: words,
  untracked: no,
  policy: words,
  paths: list(text),
  when: words,
  fallback_keys: list(text),
});

const dependency = record<JobDependency>({
  id: integer,
  token: words,
  name: words,
  artifacts_file: optional(record({ filename: words, size })),
});

const input = record<JobInput>({
  key: text,
  value: record({ type: text, content: present, sensitive: no }),
});

const payload: Shape<JobPayload> = record<JobPayload>({
  id: count,
  token: text,
  allow_git_fetch: no,
  job_info: defaulted(jobInfo, jobInfo({}, { path: "job_info", isStrict: false })),
  git_info: defaulted(gitInfo, gitInfo({}, { path: "git_info", isStrict: false })),
  runner_info: defaulted(runnerInfo, runnerInfo({}, { path: "runner_info", isStrict: false })),
  variables: list(variable),
  steps: list(step),
  hooks: list(record<JobHook>({ name: text, script: list(text) })),
  image: imageOrNull,
  services: list(image),
  artifacts: list(artifact),
  cache: list(cache),
  credentials: list(record({ type: words, url: words, username: words, password: words })),
  dependencies: list(dependency),
  features: defaulted(features, features({}, { path: "features", isStrict: false })),
  inputs: optional(list(input)),
  secrets: table(anything),
  run: optional(text),
  policy_options: object,
  suspend_options: object,
});

/**
 * A job as it is handed out. A reader fills in what is absent or null as Go's zero value does, because servers of other
 * versions leave fields out; only `id`, `token` and the names within lists must be there.
 */
export const PAYLOAD: Message<JobPayload> = messageOf(withoutEmptySteps, MESSAGE_LIMITS.payload);

/** A job with `run` is written without `steps`, as GitLab writes it. */
function withoutEmptySteps(...[value, place]: Parameters<Shape<JobPayload>>): JobPayload {
  const read = payload(value, place);
  if (!place.isStrict || read.run === undefined || read.steps.length > 0) return read;
  const { steps: _, ...rest } = read;
  return rest as JobPayload;
}

/** An image without a name stands for none: GitLab sends `{"name": null}` too. */
function imageOrNull(...[value, place]: Parameters<Shape<ImageSpec>>): ImageSpec | null {
  const hasName = (value as { name?: unknown } | null | undefined)?.name;
  return hasName === undefined || hasName === null || hasName === "" ? null : image(value, place);
}

function present(...[value, place]: Parameters<Shape<unknown>>): unknown {
  return value === null || value === undefined ? text(value, place) : anything(value, place);
}
