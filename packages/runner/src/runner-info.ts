import { arch, platform } from "node:os";
import { RUNNER_FEATURES, type RunnerInfo } from "@steps/runner-api/messages";
import type { ExecutorName, RunnerConfig } from "./config/runner-config.ts";

/** The version that servers and jobs are told. A test holds it to package.json. */
export const RUNNER_VERSION = "0.1.0";

/** The name of this program for servers. */
export const USER_AGENT: string = `steps-runner ${RUNNER_VERSION} (${platform()}/${arch()})`;

// As GitLab's runner and its servers name them.
const PLATFORMS: Readonly<Record<string, string>> = { win32: "windows" };
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

/** The system that jobs of this machine run on, as GitLab names it: `linux/amd64`. */
export function systemName(): { readonly platform: string; readonly architecture: string } {
  return { platform: PLATFORMS[platform()] ?? platform(), architecture: ARCHITECTURES[arch()] ?? arch() };
}

const IN_CONTAINERS: ReadonlySet<string> = new Set(["image", "services", "service_variables", "image_executor_opts"]);
const ALWAYS: ReadonlySet<string> = new Set([
  "variables",
  "artifacts",
  "cache",
  "fallback_cache_keys",
  "upload_multiple_artifacts",
  "upload_raw_artifacts",
  "refspecs",
  "masking",
  "raw_variables",
  "artifacts_exclude",
  "multi_build_steps",
  "trace_reset",
  "trace_checksum",
  "trace_size",
  "cancelable",
  "return_exit_code",
  "cancel_gracefully",
  "native_steps_integration",
  "two_phase_job_commit",
  "job_inputs",
]);
const MORE: Readonly<Record<ExecutorName, ReadonlySet<string>>> = {
  host: new Set(["shared"]),
  ssh: new Set(["shared"]),
  kubernetes: new Set([...IN_CONTAINERS, "service_multiple_aliases", "service_executor_opts"]),
  docker: new Set([...IN_CONTAINERS, "service_multiple_aliases", "service_executor_opts"]),
};

/** The facts that a runner sends about itself with its requests. */
export function runnerInfo({ name, executor }: Pick<RunnerConfig, "name" | "executor">): RunnerInfo {
  const features = RUNNER_FEATURES.map((feature) => [feature, ALWAYS.has(feature) || MORE[executor].has(feature)]);
  return {
    name,
    version: RUNNER_VERSION,
    revision: "",
    ...systemName(),
    executor,
    shell: "bash",
    labels: {},
    config: {},
    features: Object.fromEntries(features) as Record<string, boolean>,
  };
}
