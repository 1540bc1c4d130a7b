import { checkOptionNames, type OptionNames } from "@steps/model";
import type { CompileOptions } from "@steps/compiler";
import { emptySpec, type SpecDefinition } from "@steps/model/definition";
import { type Position, quote } from "@steps/model/diagnostic";
import { Report } from "@steps/source";
import type { CiDiagnostic, CiReport } from "../ci-rules.ts";
import { ignoredKeywords, reportUnsupported } from "../job-effects.ts";
import { sortDiagnostics } from "../load/load-pipeline.ts";
import type { LoadedJob, LoadedPipeline } from "../load/loaded-pipeline.ts";
import type { Variable, VariableSources } from "../variables/collect-variables.ts";
import { readJobVariables } from "../variables/job-variables.ts";
import { downloadPhase, dotenvPhase, uploadPhases } from "./artifact-phases.ts";
import { cachePhases } from "./cache-phases.ts";
import { cleanupPhase } from "./cleanup-phase.ts";
import type { CompileContext, Shell } from "./compile-context.ts";
import { findJob } from "./find-job.ts";
import { readJobInputs } from "./job-inputs.ts";
import { type JobTerms, readJobTerms } from "./job-terms.ts";
import { assembleJob, type AssembledJob, type Phase } from "./phase.ts";
import { preparePhase } from "./prepare-phase.ts";
import { releasePhase } from "./release-phase.ts";
import { runPhase } from "./run-phase.ts";
import { afterScriptPhase, scriptPhase, sourcesHookPhase } from "./script-phases.ts";
import { type JobFolder, sourcesPhase } from "./sources-phase.ts";
import { storesOf, STORES } from "./store-inputs.ts";

/** The options of `compileJob()`. */
export interface CompileJobOptions {
  /** The name of a job, or of an instance of one with `parallel`: `test 1/2`, `test: [a, b]`. */
  readonly jobName: string;
  /** Variables that the caller knows: `CI`, `CI_PROJECT_DIR`. They are taken as they are and lose to all others. */
  readonly predefined?: Readonly<Record<string, string>> | undefined;
  /** Variables that the user gave; they win. Like those of the file they may refer to others. */
  readonly overrides?: Readonly<Record<string, string>> | undefined;
  /**
   * Variables of every source but the files: those of `predefinedVariables()`, of settings, of the rules that let the job in.
   * None by default.
   */
  readonly sources?: VariableSources | undefined;
  /** The jobs whose artifacts are unpacked before the script, in their order, as `artifactSources()` gives them. None by default. */
  readonly artifactsFrom?: readonly string[] | undefined;
  /** The names of the secrets that the user grants to the job: an ID token of such a name is not made. None by default. */
  readonly grants?: readonly string[] | undefined;
  /**
   * The names of those secrets that are variables of type file: the job has the path of a file with the value, whatever it says of
   * a variable of that name. None by default.
   */
  readonly fileVariables?: readonly string[] | undefined;
  /**
   * The folder of the job when it starts; the default is `project`. In an empty one `get_sources` brings the commit from
   * `CI_REPOSITORY_URL`, as on a runner, and `cleanup_file_variables` ends the job. In a copy `get_sources` is there only for
   * `GIT_STRATEGY: empty`.
   */
  readonly folder?: JobFolder | undefined;
  /** The shell of the scripts. Without it: the one that they take by themselves, bash before sh. */
  readonly shell?: Shell | undefined;
  /** The treatment of names in `run` that are certain to be unknown, as for the compiler of steps. Default: they are not looked for. */
  readonly unknownNames?: CompileOptions["unknownNames"];
}

/** A job as the baseline knows it. */
export interface CompiledJob {
  readonly name: string;
  /**
   * A list of steps of the library `builtin://gitlab/…`, one for each thing that GitLab's runner does for the job, in its order
   * and with the names of its sections; a phase that has nothing to do is not in it. Its spec has the inputs of the job, and those
   * of `cache_dir` and `artifacts_dir`, absolute folders, that it needs.
   */
  readonly specDefinition: SpecDefinition;
  /**
   * The job's variables with the predefined ones, expanded: the context `vars`. A script cannot run without them: the `env` of its
   * step reads every one from there, so that no value stands in the definition.
   */
  readonly variables: Readonly<Record<string, string>>;
  /** The keywords of the job that have no effect here, in the order of the alphabet: `tags`. */
  readonly ignored: readonly string[];
  /** The terms on which it runs; `allowFailure` and `isInterruptible` as the job says itself. */
  readonly terms: JobTerms;
  /** Warnings only. */
  readonly diagnostics: readonly CiDiagnostic[];
  /** The place in the file of a JSON pointer into the baseline, or of the nearest part around it. */
  readonly positionOf: (pointer: string, part?: "key") => Position | undefined;
}

/** The result of `compileJob()`: the job, or the mistakes that keep it from running. */
export interface CompileJobResult {
  /** `undefined` when there are errors. */
  readonly job: CompiledJob | undefined;
  readonly diagnostics: readonly CiDiagnostic[];
}

const OPTION_NAMES: OptionNames<CompileJobOptions> = {
  jobName: true,
  predefined: true,
  overrides: true,
  sources: true,
  artifactsFrom: true,
  grants: true,
  fileVariables: true,
  folder: true,
  shell: true,
  unknownNames: true,
};

/**
 * Compiles one job of a loaded pipeline to steps ([ADR 32](../../docs/adr/0032-a-job-becomes-a-list-of-steps.md)). What is wrong
 * with the job is a diagnostic; nothing is thrown.
 */
export function compileJob(pipeline: LoadedPipeline, options: CompileJobOptions): CompileJobResult {
  checkOptionNames("compileJob()", options, OPTION_NAMES);
  const report: CiReport = new Report();
  const job = findJob(pipeline, options.jobName, report);
  const compiled = job && compile(pipeline, job, { ...options, report });
  const diagnostics = sortDiagnostics(report.finish(), pipeline.sources);
  if (compiled === undefined || report.hasErrors) return { job: undefined, diagnostics };
  return { job: { name: options.jobName, ...compiled, diagnostics }, diagnostics };
}

/**
 * Compiles every job of a pipeline, or of the part of it that could be read, to say all that is wrong with any of them; a job
 * with `parallel` once, and one with `trigger` not at all. `optionsOf` gives the options of the job of that name.
 */
export function checkJobs(
  pipeline: LoadedPipeline,
  optionsOf: (jobName: string) => Omit<CompileJobOptions, "jobName">,
): readonly CiDiagnostic[] {
  const ofJobs = [...pipeline.groups].flatMap(([jobName, [job]]) => {
    // It starts another pipeline, which is right for a pipeline though there is nothing to compile.
    if (job?.own.has("trigger") === true) return [];
    return compileJob(pipeline, { ...optionsOf(jobName), jobName }).diagnostics;
  });
  return sortDiagnostics(ofJobs, pipeline.sources);
}

type Compilation = Omit<CompiledJob, "name" | "diagnostics">;

function compile(
  { root }: LoadedPipeline,
  job: LoadedJob,
  options: CompileJobOptions & { readonly report: CiReport },
): Compilation | undefined {
  const { sources = {}, predefined = {}, overrides = {}, fileVariables = [], shell, unknownNames, report } = options;
  reportUnsupported(job, report);
  const given = { sources: withoutContents(sources, fileVariables), predefined, overrides };
  const read = readJobVariables({ root, job }, given, report);
  const variables = { ...read, values: omit(read.values, fileVariables) };
  const inputs = readJobInputs(job, report);
  const { values } = variables;
  const { terms, diagnostics } = readJobTerms(job, { variables: values });
  report.include(diagnostics);
  const scope = { values, inputs: new Set(Object.keys(inputs)) };
  const context: CompileContext = { job, variables, scope, shell, unknownNames, report };
  const phases = phasesOf(context, options);
  if (phases === undefined) return undefined;
  for (const name of Object.keys(STORES)) {
    if (!Object.hasOwn(inputs, name)) continue;
    const message = `An input of a job cannot be called ${quote(name)} here`;
    report.error(job.keywords.get("inputs")?.key, { code: "invalid-name", message, hint: "Give it another name." });
  }
  const plain = onlyRun(phases, Object.keys(inputs).length > 0);
  const assembled = plain ?? assembleJob(phases, { key: job.key, inputs: { ...storesOf(phases), ...inputs } });
  return { ...assembled, variables: values, terms, ignored: ignoredKeywords(job) };
}

// A reference to such a variable is left as it stands, as on GitLab's server, so that its contents are in no other.
function withoutContents(sources: VariableSources, names: readonly string[]): VariableSources {
  if (names.length === 0) return sources;
  const references = names.map((name): [string, Variable] => [name, { value: `$${name}`, isRaw: true }]);
  return { ...sources, pipeline: new Map([...(sources.pipeline ?? []), ...references]) };
}

function omit(values: Readonly<Record<string, string>>, names: readonly string[]): Readonly<Record<string, string>> {
  if (names.length === 0) return values;
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}

function phasesOf(
  context: CompileContext,
  { artifactsFrom = [], grants = [], fileVariables = [], folder = "project" }: CompileJobOptions,
): readonly Phase[] | undefined {
  const main = context.job.own.has("run") ? runPhase(context) : scriptPhase(context);
  if (main === undefined) return undefined;
  const cache = cachePhases(context);
  const prepare = preparePhase(context, { granted: new Set(grants), fileVariables });
  const before = present([
    prepare,
    sourcesHookPhase(context),
    sourcesPhase(context, folder),
    cache.restore,
    downloadPhase(context, artifactsFrom),
  ]);
  const release = releasePhase(context);
  const place = { main: main.name, mayNotBegin: before.length > 0, hasRelease: release !== undefined };
  const after = [release, afterScriptPhase(context, place), dotenvPhase(context)];
  const last = present(folder === "empty" ? [cleanupPhase(context, prepare)] : []);
  return [...before, main, ...present(after), ...cache.save, ...uploadPhases(context), ...last];
}

function present(phases: readonly (Phase | undefined)[]): readonly Phase[] {
  return phases.filter((phase) => phase !== undefined);
}

// A list of steps that has nothing around it is the job itself.
function onlyRun(phases: readonly Phase[], hasInputs: boolean): AssembledJob | undefined {
  const [only, ...others] = phases;
  if (hasInputs || others.length > 0 || only?.positionOf === undefined || only.step.kind !== "inline") return undefined;
  const { definition } = only.step.specDefinition;
  return { specDefinition: { spec: emptySpec, definition }, positionOf: only.positionOf };
}
