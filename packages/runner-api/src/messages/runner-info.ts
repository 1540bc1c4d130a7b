import { anything, defaulted, record, type Shape, table, text } from "../shape/shape.ts";

/** A runner about itself: `info` of most requests. */
export interface RunnerInfo {
  readonly name: string;
  readonly version: string;
  readonly revision: string;
  /** `linux`, `darwin`, … */
  readonly platform: string;
  /** `amd64`, `arm64`, … */
  readonly architecture: string;
  /** `docker`, `kubernetes`, `shell`, … */
  readonly executor: string;
  readonly shell: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly features: Readonly<Partial<Record<string, boolean>>>;
}

/** The names of the features that a runner may announce. */
export const RUNNER_FEATURES = [
  "variables",
  "image",
  "services",
  "artifacts",
  "cache",
  "fallback_cache_keys",
  "shared",
  "upload_multiple_artifacts",
  "upload_raw_artifacts",
  "session",
  "terminal",
  "refspecs",
  "masking",
  "proxy",
  "raw_variables",
  "artifacts_exclude",
  "multi_build_steps",
  "trace_reset",
  "trace_checksum",
  "trace_size",
  "vault_secrets",
  "cancelable",
  "return_exit_code",
  "service_variables",
  "service_multiple_aliases",
  "image_executor_opts",
  "service_executor_opts",
  "cancel_gracefully",
  "native_steps_integration",
  "two_phase_job_commit",
  "job_inputs",
] as const;

const words = defaulted(text, "");

/** Features are true or false; anything else that a client sends there is left out. */
const features: Shape<Readonly<Record<string, boolean>>> = (value, place) =>
  Object.fromEntries(
    Object.entries(table(anything)(value, place)).filter(
      (entry): entry is [string, boolean] => typeof entry[1] === "boolean",
    ),
  );

const info: Shape<RunnerInfo> = record<RunnerInfo>({
  name: words,
  version: words,
  revision: words,
  platform: words,
  architecture: words,
  executor: words,
  shell: words,
  labels: table(words),
  config: table(anything),
  features,
});

/** `info`, all of whose keys may be absent. */
export const runnerInfo: Shape<RunnerInfo> = (value, place) => info(value ?? {}, place);
