import { flag, type OptionsOf, UsageError } from "@steps/console";
import { existsSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { type Compiled, compileInput, compilePrototext, compileStepList } from "@steps/compiler";
import { CompileError } from "@steps/engine";
import { jobVariables } from "@steps/engine/environment";
import type { SpecDefinition } from "@steps/model/definition";
import type { Diagnostic, Source } from "@steps/model/diagnostic";
import { formatReference, type StepReference } from "@steps/model/reference";
import { lockFlags, sourceFlags } from "../flags/component-flags.ts";
import { showDiagnostics } from "./diagnose.ts";
import { openEngine } from "../open-engine.ts";
import { findCiFile, hasCiFile } from "./load-ci-file.ts";
import { jobFlags, type JobOptions } from "./read-job.ts";
import { readRunnerJob } from "./read-runner-job.ts";
import { readSource } from "../files/read-source.ts";
import { gitFlags, type GitOptions, readReference } from "../flags/reference-argument.ts";
import { fetchFlags } from "../flags/run-flags.ts";
import { absolute } from "../files/absolute.ts";
import { StopSignals } from "../signals.ts";
import { isWorkflow } from "./is-workflow.ts";
import { readWorkflowJob } from "./read-workflow-job.ts";
import { isMessageFile } from "../files/find-files.ts";

/** Flags of commands that read any kind of input without running it. */
export const inputFlags = {
  json: flag.text({ placeholder: "JSON|-", summary: "Read this JSON, or standard input" }),
  lenient: flag.boolean({ summary: "Unknown keys are warnings", env: "STEP_RUNNER_LENIENT" }),
  ...jobFlags,
  ...gitFlags,
  ...fetchFlags,
  ...sourceFlags,
  ...lockFlags,
};

/** The options that name an input, and say how it is read. */
export type InputOptions = OptionsOf<typeof inputFlags>;

/** The options that say how a text of steps is read; a command may lack some of the flags. */
export type TextOptions = JobOptions & Partial<GitOptions> & Pick<InputOptions, "lenient"> & { readonly json?: string };

/** The compiled input that the arguments name. Its diagnostics have been shown. */
export interface Input {
  readonly name: string;
  readonly specDefinition: SpecDefinition | undefined;
}

/** A text of steps, compiled, and where it stands. */
export interface TextInput extends Input {
  readonly positionOf?: Compiled["positionOf"] | undefined;
  /** Absolute: where its local references start. */
  readonly baseDir: string;
  /** Absolute: the step file that it is. */
  readonly file?: string;
}

/**
 * Reads what the arguments name: --json, a job of a CI file or a workflow, a step file or list, a reference, standard input for `-`,
 * or the variable STEPS if there is no argument. @throws {UsageError}
 */
export async function readInput(options: InputOptions, path: string | undefined): Promise<Input> {
  const input = await readTextOrReference(options, path);
  return "kind" in input ? load(options, input) : input;
}

/** Does the same as `readInput()`, but returns a reference unresolved. @throws {UsageError} */
export async function readTextOrReference(
  options: TextOptions,
  path: string | undefined,
): Promise<TextInput | StepReference> {
  const json = options.json ?? (path === "-" ? "-" : undefined);
  if (json !== undefined)
    return compileSource(options, json === "-" ? readSource("-") : { name: "<argument>", text: json });
  if (path !== undefined && isFile(path)) {
    if (isWorkflow(options, path)) return readWorkflow(options, path);
    const isOfJobs =
      options.jobName !== undefined || options.format === "gitlab-ci" || basename(path) === ".gitlab-ci.yml";
    if (!isOfJobs) return compileFile(options, path);
    return readCiJob(options, path);
  }
  const reference = readReference(options, path);
  if (reference !== undefined) return reference;
  const isJobNamed = options.jobName !== undefined || options.format === "gitlab-ci";
  if (isJobNamed || (process.env["STEPS"] === undefined && hasCiFile())) return readCiJob(options, findCiFile());
  return readSteps(options);
}

async function readCiJob(options: TextOptions, path: string): Promise<TextInput> {
  const read = await readRunnerJob(options, path);
  const baseDir = options.workDir ?? absolute(dirname(path));
  return { name: path, specDefinition: read?.job.specDefinition, positionOf: read?.job.positionOf, baseDir };
}

/** A job of a workflow as a text of steps: that of the flags, or of this name. */
export function readWorkflow(options: TextOptions, path: string, jobName?: string): TextInput {
  const read = readWorkflowJob(options, path, { name: jobName });
  const name = jobName === undefined ? path : `${path} ${jobName}`;
  const { specDefinition, positionOf, workDir = process.cwd() } = read ?? {};
  return { name, specDefinition, positionOf, baseDir: workDir };
}

function compileSource({ lenient }: Pick<InputOptions, "lenient">, source: Source): TextInput {
  const { name } = source;
  const compile = isMessageFile(name) ? compilePrototext : compileInput;
  const compiled = compile(source, { isLenient: lenient });
  showDiagnostics({}, compiled.diagnostics, { withNotes: true });
  const { specDefinition, positionOf } = compiled;
  return { name, specDefinition, positionOf, baseDir: process.cwd() };
}

// A step file of two documents is a step in its folder; other texts are steps of the current directory.
function compileFile(options: Pick<InputOptions, "lenient">, path: string): TextInput {
  const source = readSource(path);
  const input = compileSource(options, source);
  return /^---(?:\s|$)/m.test(source.text)
    ? { ...input, baseDir: absolute(dirname(path)), file: absolute(path) }
    : input;
}

function readSteps({ lenient }: Pick<InputOptions, "lenient">): TextInput {
  const text = process.env["STEPS"];
  if (text === undefined)
    throw new UsageError("Nothing to read", "Name a file or a reference, give --json, or set STEPS.");
  const compiled = compileStepList({ name: "STEPS", text }, { isLenient: lenient });
  showDiagnostics({}, compiled.diagnostics, { withNotes: true });
  const { specDefinition, positionOf } = compiled;
  return { name: "STEPS", specDefinition, positionOf, baseDir: process.cwd() };
}

async function load(options: InputOptions, reference: StepReference): Promise<Input> {
  await using engine = openEngine(options);
  using stop = new StopSignals();
  const name = formatReference(reference);
  try {
    const loaded = await engine.load(reference, process.cwd(), {
      signal: stop.signal,
      isLenient: options.lenient,
      vars: jobVariables(process.env),
      onDiagnostics: (_path, diagnostics: readonly Diagnostic[]) =>
        showDiagnostics({}, diagnostics, { withNotes: true }),
    });
    return { name, specDefinition: loaded.specDefinition };
  } catch (error) {
    // Its diagnostics were shown.
    if (error instanceof CompileError) return { name, specDefinition: undefined };
    throw error;
  }
}

function isFile(path: string): boolean {
  return /\.(?:ya?ml|json|txtpb|textproto)$/i.test(path) && existsSync(path) && statSync(path).isFile();
}
