import type { JobRequest } from "@steps/client";
import { compileServerJob } from "@steps/gitlab-ci/payload";
import { mapObject } from "@steps/model";
import { encodeSpecDefinition } from "@steps/model/baseline";
import { formatDiagnostic } from "@steps/model/diagnostic";
import type { JobPayload } from "@steps/runner-api/job";
import type { RunnerConfig } from "../config/runner-config.ts";
import type { JobFolders } from "../executors/executor.ts";
import { shortToken } from "../executors/job-paths.ts";
import { RUNNER_VERSION, systemName } from "../runner-info.ts";
import { describeLeft, readTokenPrefixes } from "./token-prefixes.ts";

/** A job and its surroundings. */
export interface CompiledFor {
  readonly config: RunnerConfig;
  readonly payload: JobPayload;
  readonly folders: JobFolders;
  readonly slot: number;
}

/** The request for a service, or the mistakes of the job. */
export type MadeRequest =
  | { readonly request: JobRequest; readonly variables: Readonly<Record<string, string>> }
  | { readonly problem: string };

const HOUR_MS = 3_600_000;

/** Makes of a payload what a service of steps is asked to run. */
export function makeRequest(job: CompiledFor): MadeRequest {
  const { payload, config, folders } = job;
  const wanted = Object.keys(payload.secrets);
  if (wanted.length > 0)
    return { problem: `The job wants secrets of a vault (${wanted.join(", ")}), and this runner asks no vault` };
  const server = { url: config.url };
  const compiled = compileServerJob(payload, { server, token: payload.token, variables: runnerVariables(job) });
  if (compiled.job === undefined) return { problem: compiled.diagnostics.map(formatDiagnostic).join("\n") };
  const { specDefinition, variables, secrets, sections } = compiled.job;
  const hasCache = Object.hasOwn(specDefinition.spec.inputs, "cache_dir");
  const { timeout } = payload.runner_info;
  const prefixes = readTokenPrefixes(payload.features.token_mask_prefixes);
  const warning = describeLeft(prefixes);
  return {
    request: {
      definition: JSON.stringify(encodeSpecDefinition(specDefinition)),
      source: `job ${payload.id}`,
      name: payload.job_info.name,
      workDir: folders.projectDir,
      variables,
      grants: secrets,
      inputs: hasCache ? { cache_dir: folders.cacheDir ?? `${folders.projectDir}.cache` } : {},
      maskedValues: [payload.token],
      tokenMaskPrefixes: prefixes.taken,
      ...(warning === undefined
        ? {}
        : { notes: [{ level: "warning", code: "token-mask-prefixes", message: warning }] }),
      ...(payload.features.trace_sections ? { sections } : {}),
      timeoutMs: timeout === 0 ? 2 * HOUR_MS : timeout * 1000,
    },
    variables: mapObject(variables, ({ value, isFile }, name) => (isFile ? `$${name}` : value)),
  };
}

/** The variables that gitlab-runner adds to those of the server, and those of the configuration. */
function runnerVariables({ config, payload, folders, slot }: CompiledFor): Readonly<Record<string, string>> {
  const { platform, architecture } = systemName();
  const ofJob = new Set(payload.variables.map(({ key }) => key));
  const configured = Object.entries(config.environment).filter(([name]) => !ofJob.has(name));
  const isShared = config.executor === "host" || config.executor === "ssh";
  return {
    ...Object.fromEntries(configured),
    CI_BUILDS_DIR: folders.buildsDir,
    CI_PROJECT_DIR: folders.projectDir,
    CI_CONCURRENT_ID: String(slot),
    CI_CONCURRENT_PROJECT_ID: String(slot),
    CI_SERVER: "yes",
    CI_RUNNER_SHORT_TOKEN: shortToken(config.token),
    CI_RUNNER_VERSION: RUNNER_VERSION,
    CI_RUNNER_EXECUTABLE_ARCH: `${platform}/${architecture}`,
    CI_JOB_TIMEOUT: String(payload.runner_info.timeout),
    [isShared ? "CI_SHARED_ENVIRONMENT" : "CI_DISPOSABLE_ENVIRONMENT"]: "true",
  };
}
