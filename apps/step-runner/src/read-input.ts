import { type CommandLine, type Flags, UsageError } from "@steps/console";
import { existsSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { type Compiled, compileInput, compilePrototext, compileStepList } from "@steps/compiler";
import { CompileError, jobVariables } from "@steps/engine";
import { type Diagnostic, formatReference, type Source, type SpecDefinition, type StepReference } from "@steps/model";
import { lockFlags, sourceFlags } from "./component-flags.ts";
import { showDiagnostics } from "./diagnose.ts";
import { openEngine } from "./open-engine.ts";
import { jobFlags, readJob } from "./read-job.ts";
import { readSource } from "./read-source.ts";
import { gitFlags, readReference } from "./reference-argument.ts";
import { fetchFlags } from "./run-flags.ts";
import { absolute } from "./absolute.ts";
import { StopSignals } from "./signals.ts";
import { isWorkflow } from "./is-workflow.ts";
import { readWorkflowJob } from "./read-workflow-job.ts";
import { isMessageFile } from "./validate/find-files.ts";

/** Flags of commands that read any kind of input without running it. */
export const inputFlags: Flags = {
  json: { type: "string", placeholder: "JSON|-", summary: "Read this JSON, or standard input" },
  lenient: { type: "boolean", summary: "Unknown keys are warnings", env: "STEP_RUNNER_LENIENT" },
  ...jobFlags,
  ...gitFlags,
  ...fetchFlags,
  ...sourceFlags,
  ...lockFlags,
};

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
export async function readInput(line: CommandLine): Promise<Input> {
  const input = readTextOrReference(line);
  return "kind" in input ? load(line, input) : input;
}

/** Does the same as `readInput()`, but returns a reference unresolved. @throws {UsageError} */
export function readTextOrReference(line: CommandLine): TextInput | StepReference {
  const [path] = line.positionals;
  const json = line.string("json") ?? (path === "-" ? "-" : undefined);
  if (json !== undefined)
    return compileSource(line, json === "-" ? readSource("-") : { name: "<argument>", text: json });
  if (path !== undefined && isFile(path)) {
    if (isWorkflow(line, path)) return readWorkflow(line, path);
    if (line.string("job-name") === undefined && basename(path) !== ".gitlab-ci.yml") return compileFile(line, path);
    const read = readJob(line, path);
    const baseDir = absolute(line.string("work-dir") ?? dirname(path));
    return { name: path, specDefinition: read?.job.specDefinition, positionOf: read?.job.positionOf, baseDir };
  }
  return readReference(line) ?? readSteps(line);
}

/** A job of a workflow as a text of steps: that of the flags, or of this name. */
export function readWorkflow(line: CommandLine, path: string, jobName?: string): TextInput {
  const read = readWorkflowJob(line, path, jobName);
  const name = jobName === undefined ? path : `${path} ${jobName}`;
  const { specDefinition, positionOf, workDir = process.cwd() } = read ?? {};
  return { name, specDefinition, positionOf, baseDir: workDir };
}

function compileSource(line: CommandLine, source: Source): TextInput {
  const { name } = source;
  const compile = isMessageFile(name) ? compilePrototext : compileInput;
  const compiled = compile(source, { isLenient: line.boolean("lenient") });
  showDiagnostics(line, compiled.diagnostics, { withNotes: true });
  const { specDefinition, positionOf } = compiled;
  return { name, specDefinition, positionOf, baseDir: process.cwd() };
}

// A step file of two documents is a step in its folder; other texts are steps of the current directory.
function compileFile(line: CommandLine, path: string): TextInput {
  const source = readSource(path);
  const input = compileSource(line, source);
  return /^---(?:\s|$)/m.test(source.text)
    ? { ...input, baseDir: absolute(dirname(path)), file: absolute(path) }
    : input;
}

function readSteps(line: CommandLine): TextInput {
  const text = process.env["STEPS"];
  if (text === undefined)
    throw new UsageError("Nothing to read", "Name a file or a reference, give --json, or set STEPS.");
  const compiled = compileStepList({ name: "STEPS", text }, { isLenient: line.boolean("lenient") });
  showDiagnostics(line, compiled.diagnostics, { withNotes: true });
  const { specDefinition, positionOf } = compiled;
  return { name: "STEPS", specDefinition, positionOf, baseDir: process.cwd() };
}

async function load(line: CommandLine, reference: StepReference): Promise<Input> {
  await using engine = openEngine(line);
  using stop = new StopSignals();
  const name = formatReference(reference);
  try {
    const loaded = await engine.load(reference, process.cwd(), {
      signal: stop.signal,
      isLenient: line.boolean("lenient"),
      vars: jobVariables(process.env),
      onDiagnostics: (_path, diagnostics: readonly Diagnostic[]) =>
        showDiagnostics(line, diagnostics, { withNotes: true }),
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
