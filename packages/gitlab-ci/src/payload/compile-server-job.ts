import { checkOptionNames, type OptionNames, mapObject, type Value } from "@steps/model";
import type { SpecDefinition } from "@steps/model/definition";
import { readYaml, Report, type YamlMapping, type YamlNode } from "@steps/source";
import type { CiDiagnostic, CiReport } from "../ci-rules.ts";
import { cachePhases } from "../compile/cache-phases.ts";
import type { CompileContext, Shell } from "../compile/compile-context.ts";
import { cleanupPhase } from "../compile/cleanup-phase.ts";
import { readJobInputs } from "../compile/job-inputs.ts";
import { assembleJob, type Phase } from "../compile/phase.ts";
import { runPhase } from "../compile/run-phase.ts";
import { afterScriptPhase, scriptPhase, sourcesHookPhase } from "../compile/script-phases.ts";
import { storesOf } from "../compile/store-inputs.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import { isMapping } from "../load/nodes.ts";
import { logSections } from "./log-sections.ts";
import type { ServerCache, ServerJob } from "./server-job.ts";
import {
  checkoutPhase,
  dependencySecret,
  type JobServer,
  serverDownloadPhase,
  serverUploadPhases,
  TOKEN_SECRET,
} from "./server-phases.ts";
import { type JobValue, readServerVariables, type RunnerVariables } from "./server-variables.ts";

/** The options of `compileServerJob()`. */
export interface CompileServerJobOptions {
  readonly server: JobServer;
  /** The token of the job, for its server. */
  readonly token: string;
  /** Variables that the runner adds: `CI_PROJECT_DIR`, `CI_BUILDS_DIR`. They are taken as they are and win. */
  readonly variables: RunnerVariables;
  /** The shell of the scripts. Without it: the one that they take by themselves, bash before sh. */
  readonly shell?: Shell | undefined;
}

/** A job of a server as a service of steps takes it. */
export interface CompiledServerJob {
  /** The same list of `builtin://gitlab/…` that a job of a file becomes; it has an input `cache_dir` where it has caches. */
  readonly specDefinition: SpecDefinition;
  readonly variables: Readonly<Record<string, JobValue>>;
  /** The secrets that its steps ask for. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The sections of its log as gitlab-runner has them: the line that heads each, by the name of the step. */
  readonly sections: Readonly<Record<string, string>>;
}

/** The result of `compileServerJob()`: the job, or the mistakes that keep it from running. */
export interface CompileServerJobResult {
  /** `undefined` when there are errors. */
  readonly job: CompiledServerJob | undefined;
  readonly diagnostics: readonly CiDiagnostic[];
}

const OPTION_NAMES: OptionNames<CompileServerJobOptions> = { server: true, token: true, variables: true, shell: true };

/**
 * Compiles a job as a GitLab hands it to a runner to the steps that a job of a `.gitlab-ci.yml` becomes, with the sources and
 * the artifacts from and to the server. What is wrong with the job is a diagnostic; nothing is thrown.
 */
export function compileServerJob(job: ServerJob, options: CompileServerJobOptions): CompileServerJobResult {
  checkOptionNames("compileServerJob()", options, OPTION_NAMES);
  const report: CiReport = new Report();
  const compiled = compile(job, options, report);
  const diagnostics = report.finish();
  return { job: report.hasErrors ? undefined : compiled, diagnostics };
}

function compile(
  job: ServerJob,
  { server, token, variables: own, shell }: CompileServerJobOptions,
  report: CiReport,
): CompiledServerJob | undefined {
  const variables = readServerVariables(job, own, report);
  const loaded = loadedJobOf(job, report);
  const inputs = readJobInputs(loaded, report);
  const values = mapObject(variables, ({ value, isFile }, name) => (isFile ? `$${name}` : value));
  const scope = { values, inputs: new Set(Object.keys(inputs)) };
  const common = { job: loaded, variables: { values, nodes: new Map() }, scope, shell, report };
  // A job that a runner has taken fails as its steps do.
  const context: CompileContext = { ...common, unknownNames: undefined };
  const phases = phasesOf(context, job, server);
  if (phases === undefined) return undefined;
  const { specDefinition } = assembleJob(phases, { key: loaded.key, inputs: { ...storesOf(phases), ...inputs } });
  const dependencies = job.dependencies.map(({ id, token: own }) => [dependencySecret(id), own] as const);
  return {
    specDefinition,
    variables,
    secrets: { ...Object.fromEntries(dependencies), [TOKEN_SECRET]: token },
    sections: logSections(phases),
  };
}

function phasesOf(context: CompileContext, job: ServerJob, server: JobServer): readonly Phase[] | undefined {
  const main = job.run === undefined ? scriptPhase(context) : runPhase(context);
  if (main === undefined) {
    if (!context.report.hasErrors) {
      context.report.error(undefined, {
        code: "missing-script",
        message: "The job has neither a script nor a list of steps",
      });
    }
    return undefined;
  }
  const cache = cachePhases(context);
  const place = { main: main.name, mayNotBegin: true, hasRelease: false };
  const phases = [
    sourcesHookPhase(context, "pre_get_sources_script"),
    checkoutPhase(context, job),
    sourcesHookPhase(context, "post_get_sources_script"),
    cache.restore,
    serverDownloadPhase(context, server, job.dependencies),
    main,
    afterScriptPhase(context, place),
    ...cache.save,
    ...serverUploadPhases(context, server, job),
    cleanupPhase(context, undefined),
  ];
  return phases.filter((phase) => phase !== undefined);
}

// The payload is put into the words of a file, which is what the phases read.
function loadedJobOf(job: ServerJob, report: CiReport): LoadedJob {
  const { name } = job.job_info;
  const keywords = withoutUndefined({
    script: job.run === undefined ? scriptsOf(job) : undefined,
    after_script: job.steps.find((step) => step.name === AFTER_SCRIPT)?.script,
    hooks: Object.fromEntries(job.hooks.map((hook) => [hook.name, hook.script])),
    cache: job.cache.map(cacheOf),
    inputs: Object.fromEntries((job.inputs ?? []).map(({ key, value }) => [key, inputOf(value)])),
    run: job.run === undefined ? undefined : "",
  });
  const root = mappingOf("<payload>", keywords);
  const entries = new Map(root.entries);
  const [entry, run] = [entries.get("run"), listOf(job.run, report)];
  if (entry !== undefined && run !== undefined) entries.set("run", { ...entry, value: run });
  const isTrue = (): boolean => true;
  return {
    name,
    groupName: name,
    stage: "",
    key: root,
    own: entries,
    keywords: entries,
    inheritsVariable: isTrue,
    instance: undefined,
  };
}

function listOf(run: string | undefined, report: CiReport): YamlNode | undefined {
  if (run === undefined) return undefined;
  const { documents, diagnostics } = readYaml({ name: "<run>", text: run });
  report.include(diagnostics);
  return documents[0];
}

const AFTER_SCRIPT = "after_script";

function scriptsOf({ steps }: ServerJob): readonly string[] | undefined {
  const scripts = steps.filter(({ name }) => name !== AFTER_SCRIPT);
  return scripts.length === 0 ? undefined : scripts.flatMap(({ script }) => script);
}

function cacheOf({ key, untracked, policy, paths, when, fallback_keys }: ServerCache): Readonly<Record<string, Value>> {
  return withoutUndefined({
    key: key === "" ? undefined : key,
    untracked,
    policy: policy === "" ? undefined : policy,
    paths: [...paths],
    when: when === "" ? undefined : when,
    fallback_keys: [...fallback_keys],
  });
}

function inputOf({ type, content }: { readonly type: string; readonly content: unknown }): Value {
  return { type, default: content as Value };
}

function withoutUndefined<T extends object>(object: T): Record<string, Exclude<T[keyof T], undefined>> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

// As JSON is YAML, it is read as if it stood in a file.
function mappingOf(name: string, value: object): YamlMapping {
  const node: YamlNode | undefined = readYaml({ name, text: JSON.stringify(value) }).documents[0];
  if (!isMapping(node)) throw new Error("A payload in the words of a file is no mapping");
  return node;
}
