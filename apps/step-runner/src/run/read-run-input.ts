import { existsSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { compileInput, compilePrototext } from "@steps/compiler";
import { UsageError } from "@steps/console";
import { checkFirstStep } from "@steps/engine/components";
import { hasErrors, type Source } from "@steps/model/diagnostic";
import { formatReference, isReferenceProblem, parseReference, type StepReference } from "@steps/model/reference";
import { absolute } from "../files/absolute.ts";
import { isActionFile, isCiFile, isMessageFile } from "../files/find-files.ts";
import { hasTwoDocuments } from "../files/has-two-documents.ts";
import { nearestPath } from "../files/nearest-path.ts";
import { readSource } from "../files/read-source.ts";
import { type GitOptions, parseArgument, readReference } from "../flags/reference-argument.ts";
import type { CommandJob } from "./command-job.ts";
import { callProblems } from "../input/call-problems.ts";
import { showDiagnostics } from "../input/diagnose.ts";
import { isWorkflow } from "../input/is-workflow.ts";

/** A definition that was read and compiled. */
export type Definition = Pick<CommandJob, "source" | "specDefinition" | "positionOf"> & {
  /** The folder that local references start from. Default: the job's directory. */
  readonly baseDir?: string;
};

/** The thing that `run` runs: a step by its name, or a definition. */
export type RunInput =
  | { readonly source: string; readonly step: StepReference }
  | (Definition & { readonly step?: undefined });

/** The options of `run` that name its input, and say how it is read. */
export interface RunInputOptions extends GitOptions {
  readonly json: string | undefined;
  readonly textProtoStepFile: string | undefined;
  readonly workDir: string | undefined;
  readonly lenient: boolean;
  readonly mask: readonly string[];
  readonly maskVariable: readonly string[];
}

/** Reads what the arguments of `run` name. Its diagnostics have been shown; `undefined` if it cannot run. @throws {UsageError} */
export async function readRunInput(options: RunInputOptions, named: string | undefined): Promise<RunInput | undefined> {
  const input = readInput(options, named);
  if (input === undefined || input.step !== undefined) return input;
  const { workDir = process.cwd(), lenient: isLenient } = options;
  const { specDefinition, positionOf, baseDir = absolute(workDir) } = input;
  const problems = await callProblems({ specDefinition, positionOf }, { dirs: [baseDir], isLenient, severity: "run" });
  showDiagnostics(options, problems);
  return hasErrors(problems) ? undefined : input;
}

function readInput(options: RunInputOptions, named: string | undefined): RunInput | undefined {
  const { json, textProtoStepFile: messageFile } = options;
  if (messageFile !== undefined) {
    if (json !== undefined || named !== undefined)
      throw new UsageError("Both --text-proto-step-file and another step are given");
    return readMessage(options, messageFile);
  }
  if (json !== undefined && named !== undefined) throw new UsageError("Both a step and --json are given");
  const text = json ?? (named === "-" ? "-" : undefined);
  if (text !== undefined) return compile(options, text === "-" ? readSource("-") : { name: "<argument>", text });
  if (named !== undefined && isTextFile(named)) return readFile(options, named);
  const step =
    named !== undefined && isPlainFolder(named) ? parseArgument(asPath(named)) : readReference(options, named);
  if (step === undefined)
    throw new UsageError("No step is named", "Name one: step-runner run ./step or steps.yml, or give --json.");
  return readStep(options, step);
}

// A step of this machine is looked at before the run begins, any other one when it is fetched.
function readStep(options: RunInputOptions, step: StepReference): RunInput | undefined {
  const { workDir = process.cwd(), lenient: isLenient } = options;
  if (step.kind === "local" && !existsSync(resolve(workDir, step.path))) refuseMistyped(step.path, workDir);
  const diagnostics = step.kind === "local" ? checkFirstStep(step, workDir, { isLenient }) : [];
  showDiagnostics(options, diagnostics);
  return hasErrors(diagnostics) ? undefined : { source: formatReference(step), step };
}

// A folder that a step file could be in is nearly always mistyped; the run says what is wrong with any other.
function refuseMistyped(path: string, workDir: string): void {
  const near = workDir === process.cwd() ? nearestPath(path, { foldersOnly: true }) : undefined;
  if (near !== undefined) throw new UsageError(`There is no folder "${path}"`, `Did you mean ${near}?`);
}

function readFile(options: RunInputOptions, path: string): RunInput | undefined {
  if (isMessageFile(path)) return readMessage(options, path);
  if (isActionFile(path)) {
    const step = parseArgument(asPath(dirname(path)));
    return { source: formatReference(step), step };
  }
  if (isCiFile(path) || isWorkflow({ format: "auto" }, path))
    throw new UsageError(`"${path}" holds jobs, not steps`, `step-runner local ${path} runs one of them.`);
  const source = readSource(path);
  if (!hasTwoDocuments(source)) return compile(options, source);
  return readStep(options, parseArgument(options.workDir === undefined ? asPath(path) : absolute(path)));
}

/** The path of something that is here as a reference to it. */
function asPath(path: string): string {
  return /^\.{0,2}\//.test(path) || path === "." ? path : `./${path}`;
}

// Paths in a list start from the current directory, wherever the list is.
function compile(options: RunInputOptions, source: Source): RunInput | undefined {
  const { specDefinition, positionOf, diagnostics } = compileInput(source, {
    isLenient: options.lenient,
    unknownNames: "run",
  });
  showDiagnostics(options, diagnostics);
  return specDefinition && { source: source.name, specDefinition, positionOf };
}

// The folder of the file is the step's.
function readMessage(options: RunInputOptions, path: string): RunInput | undefined {
  const source = readSource(path);
  const { specDefinition, positionOf, diagnostics } = compilePrototext(source, {
    isLenient: options.lenient,
    unknownNames: "run",
  });
  showDiagnostics(options, diagnostics);
  return specDefinition && { source: path, specDefinition, positionOf, baseDir: absolute(dirname(path)) };
}

function isTextFile(path: string): boolean {
  return (
    /\.(?:ya?ml|json|txtpb|textproto)$/i.test(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true
  );
}

/** Whether a word can only mean the folder of that name: it is no reference to anything else. */
function isPlainFolder(word: string): boolean {
  if (/^[./]/.test(word) || !isReferenceProblem(parseReference(word))) return false;
  return basename(word) !== "" && statSync(word, { throwIfNoEntry: false })?.isDirectory() === true;
}
