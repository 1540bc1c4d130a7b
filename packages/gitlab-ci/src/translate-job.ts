import { compileRunNode } from "@steps/compiler";
import { positionIn, Report, type YamlNode } from "@steps/source";
import { createObject } from "@steps/model";
import { emptySpec, type SpecDefinition } from "@steps/model/definition";
import { type Diagnostic, nearest, type Position, quote } from "@steps/model/diagnostic";
import { reportEffects } from "./job-effects.ts";
import { sortDiagnostics } from "./load/load-pipeline.ts";
import { jobNamed, type LoadedJob, type LoadedPipeline } from "./load/loaded-pipeline.ts";
import { holdsReference } from "./load/nodes.ts";
import type { VariableSources } from "./variables/collect-variables.ts";
import { type JobVariables, readJobVariables } from "./variables/job-variables.ts";
import { readCommands } from "./read-commands.ts";
import type { CiReport } from "./ci-rules.ts";
import { createShellProgram } from "./shell-program.ts";

/** The options of `translateJob()`. */
export interface TranslateJobOptions {
  /** The name of a job, or of an instance of one with `parallel`: `test 1/2`, `test: [a, b]`. */
  readonly jobName: string;
  /** Variables that the caller knows: `CI`, `CI_PROJECT_DIR`. They are taken as they are and lose to all others. */
  readonly predefined?: Readonly<Record<string, string>>;
  /** Variables that the user gave; they win. Like those of the file they may refer to others. */
  readonly overrides?: Readonly<Record<string, string>>;
  /**
   * Variables of every source but the files: those of `predefinedVariables()`, of settings, of the rules that let the job in.
   * None by default.
   */
  readonly sources?: VariableSources;
  /** The shell of a script job. Without it: the one that script steps take by themselves, bash before sh. */
  readonly shell?: "bash" | "sh";
}

/** A job as the baseline knows it. */
export interface TranslatedJob {
  readonly name: string;
  /** A list of steps without inputs and outputs: the `run:` list, or one script step. */
  readonly specDefinition: SpecDefinition;
  /**
   * The job's variables with the predefined ones, expanded: the context `vars`. A script job cannot run without them:
   * the `env` of its step reads every one from there, so that no value stands in the definition.
   */
  readonly variables: Readonly<Record<string, string>>;
  /** Warnings only. */
  readonly diagnostics: readonly Diagnostic[];
  /** The place in the file of a JSON pointer into the baseline, or of the nearest part around it. */
  readonly positionOf: (pointer: string) => Position | undefined;
}

/** The result of `translateJob()`: the job, or the mistakes that keep it from running. */
export interface TranslateJobResult {
  /** `undefined` when there are errors. */
  readonly job: TranslatedJob | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Translates one job of a loaded pipeline to steps. What is wrong with it is a diagnostic, and every keyword that has no effect
 * here is a warning.
 */
export function translateJob(pipeline: LoadedPipeline, options: TranslateJobOptions): TranslateJobResult {
  const report: CiReport = new Report();
  const translated = translate(pipeline, options, report);
  const diagnostics = sortDiagnostics(report.finish(), pipeline.sources);
  if (translated === undefined || report.hasErrors) return { job: undefined, diagnostics };
  return { job: { name: options.jobName, ...translated, diagnostics }, diagnostics };
}

/**
 * Translates every job of a pipeline, or of the part of it that could be read, to say all that is wrong with any of them; a job
 * with `parallel` once. `optionsOf` gives the options of the job of that name.
 */
export function checkJobs(
  pipeline: LoadedPipeline,
  optionsOf: (jobName: string) => Omit<TranslateJobOptions, "jobName">,
): readonly Diagnostic[] {
  const ofJobs = [...pipeline.groups.keys()].flatMap((jobName) => {
    return translateJob(pipeline, { ...optionsOf(jobName), jobName }).diagnostics;
  });
  return sortDiagnostics(ofJobs, pipeline.sources);
}

type Translation = Pick<TranslatedJob, "specDefinition" | "variables" | "positionOf">;

function translate(pipeline: LoadedPipeline, options: TranslateJobOptions, report: CiReport): Translation | undefined {
  const job = findJob(pipeline, options.jobName, report);
  if (job === undefined) return undefined;
  const { root } = pipeline;
  reportEffects(root, job, report);
  const { sources = {}, predefined = {}, overrides = {} } = options;
  const variables = readJobVariables({ root, job }, { sources, predefined, overrides }, report);
  if (job.own.has("run")) return translateRun(job, variables, report);
  return translateScript(job, { variables, shell: options.shell }, report);
}

function findJob(pipeline: LoadedPipeline, name: string, report: CiReport): LoadedJob | undefined {
  const { root, groups, sources } = pipeline;
  const job = jobNamed(pipeline, name);
  if (job !== undefined) return job;
  const entry = root.entries.get(name);
  if (entry !== undefined && name.startsWith(".")) {
    report.error(entry.key, {
      code: "hidden-job",
      message: `${quote(name)} is hidden: a job whose name begins with a dot never runs`,
    });
    return undefined;
  }
  const guess = nearest(name, groups.keys());
  const names = [...groups.keys()].slice(0, 20).map(quote);
  const list =
    names.length === 0 ? "The file has no jobs." : `Jobs: ${names.join(", ")}${groups.size > 20 ? ", …" : ""}.`;
  report.error(undefined, {
    code: "unknown-job",
    message: `Cannot find the job ${quote(name)} in ${sources[0]?.name ?? "the configuration"}`,
    hint: guess === undefined ? list : `Did you mean ${quote(guess)}? ${list}`,
  });
  return undefined;
}

const SCRIPTS = ["before_script", "script", "after_script"] as const;

function translateRun(job: LoadedJob, variables: JobVariables, report: CiReport): Translation | undefined {
  const run = job.own.get("run")?.value as YamlNode;
  for (const keyword of SCRIPTS) {
    const inherited = job.own.has(keyword) ? undefined : job.keywords.get(keyword);
    if (inherited !== undefined) {
      report.warn(inherited.key, {
        code: "keyword-not-honoured",
        message: `"${keyword}" has no effect on ${quote(job.name)}: a job with "run" does not take it`,
      });
    }
  }
  const steps = variables.nodes.get("STEPS");
  if (steps !== undefined) {
    report.error(steps, { code: "conflicting-keys", message: `The variable "STEPS" cannot stand beside "run"` });
  }
  if (holdsReference(run)) return undefined;
  const { specDefinition, diagnostics, positionOf } = compileRunNode(run);
  report.include(diagnostics);
  return specDefinition === undefined ? undefined : { specDefinition, variables: variables.values, positionOf };
}

function translateScript(
  job: LoadedJob,
  { variables, shell }: { readonly variables: JobVariables; readonly shell: "bash" | "sh" | undefined },
  report: CiReport,
): Translation | undefined {
  const script = job.own.get("script")?.value;
  // A job without a script starts another pipeline, which was reported.
  if (script === undefined) return undefined;
  // The loader reported what is wrong with them.
  const reported: CiReport = new Report();
  const [before, main, after] = SCRIPTS.map((name) => readCommands(name, job.keywords.get(name)?.value, reported));
  if (before === undefined || main === undefined || after === undefined) return undefined;
  if (main.length === 0 && !report.hasErrors) {
    report.error(script, { code: "missing-script", message: `"script" of the job ${quote(job.name)} is empty` });
  }
  const all = [...before, ...main, ...after];
  checkInputs(job, all, report);
  const text = createShellProgram({
    commands: [...before, ...main],
    afterCommands: after,
    failsWithAfterScript: !isTrue(variables.values["AFTER_SCRIPT_IGNORE_ERRORS"] ?? "true"),
    needsStepRunner: [...all, ...Object.values(variables.values)].some((part) => part.includes("/step-runner")),
  });
  return {
    specDefinition: scriptDefinition(text, { variables, shell }),
    variables: variables.values,
    positionOf: scriptPositions(job, { script, variables }),
  };
}

// Inputs of a job are the one thing that GitLab fills into a script before a shell sees it.
function checkInputs(job: LoadedJob, commands: readonly string[], report: CiReport): void {
  const inputs = job.own.get("inputs");
  if (inputs === undefined || !commands.some((command) => command.includes("${{"))) return;
  report.error(inputs.key, {
    code: "not-supported",
    message: `"inputs" is not supported: the scripts of ${quote(job.name)} would run without them`,
  });
}

function isTrue(value: string): boolean {
  return ["1", "t", "T", "TRUE", "true", "True"].includes(value);
}

function scriptDefinition(
  script: string,
  { variables, shell }: { readonly variables: JobVariables; readonly shell: "bash" | "sh" | undefined },
): SpecDefinition {
  const inputs = createObject(
    Object.entries({ script: escapeTemplate(script), ...(shell === undefined ? {} : { shell }) }),
  );
  const step = {
    name: "script",
    step: { kind: "dist" as const, path: "script" },
    inputs,
    env: createObject(Object.keys(variables.values).map((name) => [name, variableTemplate(name)] as const)),
  };
  return {
    spec: emptySpec,
    definition: { type: "steps", steps: [step], env: createObject(), outputs: createObject() },
  };
}

// A script's text must reach the shell untouched: `${{` is nothing to a script job (conformance section 6.3).
function escapeTemplate(text: string): string {
  return text.replaceAll("${{", () => String.raw`\${{`);
}

// In brackets, since a variable may have the name of an operator or of a literal.
function variableTemplate(name: string): string {
  return `\${{ vars[${JSON.stringify(name).replaceAll("${{", () => String.raw`\${{`)}] }}`;
}

function scriptPositions(
  job: LoadedJob,
  { script, variables }: { readonly script: YamlNode; readonly variables: JobVariables },
): (pointer: string) => Position | undefined {
  const places = new Map<string, YamlNode>([
    ["", job.key],
    ["/definition/steps/0", script],
  ]);
  const env = job.own.get("variables")?.key;
  if (env !== undefined) places.set("/definition/steps/0/env", env);
  for (const [name, node] of variables.nodes) places.set(`/definition/steps/0/env/${name}`, node);
  return (pointer) => positionIn(places, pointer);
}
