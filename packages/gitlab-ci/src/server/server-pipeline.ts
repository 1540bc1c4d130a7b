import { checkOptionNames, type OptionNames } from "@steps/model";
import { quote } from "@steps/model/diagnostic";
import { childOf, Report } from "@steps/source";
import type { CiDiagnostic, CiReport } from "../ci-rules.ts";
import { readJobInputs } from "../compile/job-inputs.ts";
import { textsOf } from "../compile/keyword-values.ts";
import { toCiValue } from "../load/ci-value.ts";
import type { LoadedJob, LoadedPipeline } from "../load/loaded-pipeline.ts";
import type { PlannedJob } from "../pipeline/decide-start.ts";
import type { PlannedPipeline } from "../pipeline/plan-pipeline.ts";
import { isGate } from "../pipeline/stage-gates.ts";
import { expandKeyword } from "../variables/expand-keyword.ts";
import type { ServerArtifact, ServerCache } from "../payload/server-job.ts";
import { serverArtifacts } from "./server-artifacts.ts";
import { type DigestOfFiles, serverCaches } from "./server-caches.ts";
import { type ServerImage, serverImage, serverServices } from "./server-containers.ts";
import { serverGitInfo } from "./server-git-info.ts";
import { type ServerHook, serverHooks, serverRun, type ServerScript, serverScripts } from "./server-scripts.ts";
import { type ServerVariable, serverVariables } from "./server-variables.ts";

/** The part of the job of a runner that is known when its pipeline is created, in the words of GitLab's API. */
export interface ServerPayload {
  readonly allow_git_fetch: boolean;
  readonly git_info: Readonly<Record<string, unknown>>;
  readonly variables: readonly ServerVariable[];
  readonly steps: readonly ServerScript[];
  readonly hooks: readonly ServerHook[];
  readonly image: ServerImage | null;
  readonly services: readonly ServerImage[];
  readonly artifacts: readonly ServerArtifact[];
  readonly cache: readonly ServerCache[];
  readonly inputs?: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[] | undefined;
  /** The steps of a job with `run`, as JSON. */
  readonly run?: string | undefined;
}

/** A job of a pipeline as a server keeps it until a runner takes it. */
export interface ServerJobRequest {
  readonly name: string;
  readonly stage: string;
  readonly needs?: readonly string[] | undefined;
  /** The jobs whose artifacts and variables it gets. */
  readonly dependencies: readonly string[];
  readonly tags: readonly string[];
  readonly when: "on_success" | "on_failure" | "always" | "manual" | "delayed";
  /** Seconds. */
  readonly start_in?: number | undefined;
  readonly allow_failure: boolean | { readonly exit_codes: readonly number[] };
  readonly retry?: { readonly max: number; readonly when: readonly string[] } | undefined;
  /** Seconds; absent for the limit of the server. */
  readonly timeout?: number | undefined;
  /** The features that the runner must have. */
  readonly features: readonly string[];
  readonly payload: ServerPayload;
}

/** The jobs of a pipeline for a server, or what keeps a server from running them. */
export interface ServerPipeline {
  readonly stages: readonly string[];
  readonly jobs: readonly ServerJobRequest[];
  readonly diagnostics: readonly CiDiagnostic[];
}

/** The facts about the pipeline that are not in its file. */
export interface ServerPipelineOptions {
  /** The commit as runners are told: `repo_url`, `sha`, `ref` and more, by the names of the API; `depth` comes from the job. */
  readonly gitInfo: Readonly<Record<string, unknown>>;
  readonly digestOfFiles: DigestOfFiles;
  /** Seconds that a script may take where neither file nor server says; GitLab's default is an hour. */
  readonly timeoutSeconds: number;
}

/** Keywords that only the server of a job could honour, with what is missing. */
const NOT_SERVED: Readonly<Record<string, string>> = {
  id_tokens: "a pod makes no ID tokens",
  release: "a pod keeps no releases",
  secrets: "a pod gives no secrets from a vault",
  trigger: "a pod starts no child pipelines",
};

const OPTION_NAMES: OptionNames<ServerPipelineOptions> = { gitInfo: true, digestOfFiles: true, timeoutSeconds: true };

/**
 * Makes of a planned pipeline what a server of GitLab's runner API needs to hand its jobs out. Scripts, images, paths and keys stay as
 * they are written: the runner fills variables in. Keywords that would be lost are errors at their place.
 */
export async function serverPipeline(
  loaded: LoadedPipeline,
  planned: PlannedPipeline,
  options: ServerPipelineOptions,
): Promise<ServerPipeline> {
  checkOptionNames("serverPipeline()", options, OPTION_NAMES);
  const report: CiReport = new Report();
  const isIn = new Set(planned.jobs.map(({ id }) => id));
  const jobs: ServerJobRequest[] = [];
  for (const { id } of planned.jobs) {
    const one = isGate(id) ? undefined : planned.jobNamed(id);
    if (one === undefined) continue;
    reportUnserved(one.job, report);
    jobs.push(await toRequest(one, { loaded, planned, options, report, isIn }));
  }
  return { stages: loaded.stages, jobs, diagnostics: report.finish() };
}

interface Surroundings {
  readonly loaded: LoadedPipeline;
  readonly planned: PlannedPipeline;
  readonly options: ServerPipelineOptions;
  readonly report: CiReport;
  /** The names of the jobs of the pipeline. */
  readonly isIn: ReadonlySet<string>;
}

async function toRequest(
  one: PlannedJob,
  { loaded, planned, options, report, isIn }: Surroundings,
): Promise<ServerJobRequest> {
  const { job, decision, needs, terms, isStarted, delayMs } = one;
  const variables = serverVariables(loaded, job, one.sources);
  const run = serverRun(job);
  const { allowFailure, retry, timeoutMs } = terms;
  const timeout = timeoutMs === undefined ? undefined : Math.ceil(timeoutMs / 1000);
  return {
    name: job.name,
    stage: job.stage,
    needs: needs?.map((need) => need.job).filter((name) => isIn.has(name)),
    dependencies: planned.artifactsOf(one),
    tags: tagsOf(job, variables),
    when: decision.when === "manual" && isStarted ? "on_success" : whenOf(decision.when),
    start_in: decision.when === "delayed" && delayMs !== undefined ? Math.ceil(delayMs / 1000) : undefined,
    allow_failure: typeof allowFailure === "boolean" ? allowFailure : { exit_codes: allowFailure.exitCodes },
    retry: retry && { max: retry.max, when: retry.when },
    timeout,
    features: run === undefined ? [] : ["native_steps_integration"],
    payload: {
      allow_git_fetch: true,
      git_info: serverGitInfo(options.gitInfo, variables),
      variables,
      steps: serverScripts(job, timeout ?? options.timeoutSeconds),
      hooks: serverHooks(job),
      image: serverImage(job),
      services: serverServices(job),
      artifacts: serverArtifacts(job),
      cache: await serverCaches(job, options.digestOfFiles),
      inputs: inputsOf(job, report),
      run,
    },
  };
}

function whenOf(when: string): ServerJobRequest["when"] {
  return when === "on_failure" || when === "always" || when === "manual" || when === "delayed" ? when : "on_success";
}

function tagsOf({ keywords }: LoadedJob, variables: readonly ServerVariable[]): readonly string[] {
  const node = keywords.get("tags")?.value;
  const values = new Map(variables.map(({ key, value }) => [key, value]));
  return textsOf(node && toCiValue(node)).map((tag) => expandKeyword("tags", tag, (name) => values.get(name)));
}

function inputsOf(job: LoadedJob, report: CiReport): ServerPayload["inputs"] {
  const inputs = Object.entries(readJobInputs(job, report)).flatMap(([key, { type, default: content }]) =>
    content === undefined ? [] : [{ key, value: { type, content, sensitive: false } }],
  );
  return inputs.length === 0 ? undefined : inputs;
}

function reportUnserved(job: LoadedJob, report: CiReport): void {
  // The instances of a job share what they say.
  if ((job.instance?.index ?? 1) !== 1) return;
  for (const [keyword, missing] of Object.entries(NOT_SERVED)) {
    const entry = job.keywords.get(keyword);
    if (entry === undefined) continue;
    const message = `The job ${quote(job.name)} has "${keyword}": ${missing}`;
    report.error(entry.key, { code: "not-supported", message });
  }
  const retry = job.keywords.get("retry");
  if (childOf(retry?.value, "exit_codes") !== undefined) {
    const message = `"retry:exit_codes" of the job ${quote(job.name)} has no effect: a pod knows "retry:when" only`;
    report.warn(retry?.key, { code: "not-supported", message });
  }
  const group = job.keywords.get("resource_group");
  if (group !== undefined) {
    const message = `"resource_group" of the job ${quote(job.name)} has no effect: a pod runs it beside others`;
    report.warn(group.key, { code: "not-supported", message });
  }
}
