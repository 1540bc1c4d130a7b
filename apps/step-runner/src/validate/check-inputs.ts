import { existsSync, statSync } from "node:fs";
import { UsageError } from "@steps/console";
import { CompileError } from "@steps/engine";
import { isStepsError } from "@steps/model";
import type { Diagnostic } from "@steps/model/diagnostic";
import { formatReference, type StepReference } from "@steps/model/reference";
import type { InputOptions } from "../input/read-input.ts";
import { readInputs } from "../input/given-variables.ts";
import { openEngine } from "../open-engine.ts";
import { readSource } from "../files/read-source.ts";
import { parseArgument, readReference } from "../flags/reference-argument.ts";
import type { Checked } from "../reports/checked.ts";
import { StopSignals } from "../signals.ts";
import { checkFile, type CheckOptions, checkText } from "./check-file.ts";
import { findFiles } from "../files/find-files.ts";

/** The options of `validate` that say how inputs are read. */
export type ValidateOptions = Omit<InputOptions, "format"> & { readonly strict: boolean };

/**
 * Looks at everything that the arguments name: files, folders with all step files and CI files in them, references,
 * standard input for `-`, `--json`; the variable STEPS without any. @throws {UsageError}
 */
export async function checkInputs(given: ValidateOptions, named: readonly string[]): Promise<readonly Checked[]> {
  const { json } = given;
  if (json !== undefined && named.length > 0) throw new UsageError("Both --json and an argument are given");
  if (json !== undefined)
    return [await checkText(json === "-" ? stdin() : { name: "<argument>", text: json }, checkOptions(given))];
  const isAlone = named.length < 2;
  const reference = given.gitUrl === undefined ? undefined : readReference(given, undefined);
  if (reference !== undefined) return [await checkReference(given, reference, isAlone)];
  if (named.length === 0) return [await checkText(steps(), checkOptions(given))];
  const checked: Checked[] = [];
  for (const item of named) checked.push(...(await checkArgument(given, item, isAlone)));
  return checked;
}

function checkOptions(given: ValidateOptions): CheckOptions {
  const { lenient, strict, jobName } = given;
  return {
    isLenient: lenient,
    requiresTypes: strict,
    unknownNames: "error",
    jobName,
    loading: given,
    inputs: readInputs(given.input),
  };
}

async function checkArgument(given: ValidateOptions, item: string, isAlone: boolean): Promise<readonly Checked[]> {
  const options = checkOptions(given);
  if (item === "-") return [await checkText(stdin(), options)];
  const stat = existsSync(item) ? statSync(item) : undefined;
  if (stat?.isDirectory() === true) {
    const checked: Checked[] = [];
    for (const path of findFiles(item)) checked.push(await checkFile(path, options));
    return checked;
  }
  if (stat?.isFile() === true && !/\.zip$/i.test(item)) return [await checkFile(item, options)];
  if (/^[^:@]+\.(?:ya?ml|json)$/i.test(item)) throw new UsageError(`Cannot read "${item}": there is no such file`);
  return [await checkReference(given, parseArgument(item), isAlone)];
}

function stdin(): { readonly name: string; readonly text: string } {
  return readSource("-");
}

function steps(): { readonly name: string; readonly text: string } {
  const text = process.env["STEPS"];
  if (text !== undefined) return { name: "STEPS", text };
  throw new UsageError("Nothing to read", "Name a file, a folder or a reference, give --json, or set STEPS.");
}

async function checkReference(given: ValidateOptions, reference: StepReference, isAlone: boolean): Promise<Checked> {
  await using engine = openEngine(given);
  using stop = new StopSignals();
  const name = formatReference(reference);
  const found: Diagnostic[] = [];
  try {
    await engine.load(reference, process.cwd(), {
      signal: stop.signal,
      isLenient: given.lenient,
      requiresTypes: given.strict,
      onDiagnostics: (_path, diagnostics) => found.push(...diagnostics),
    });
  } catch (error) {
    // A step that does not compile has diagnostics already. If one step is all that was asked for, its error ends the
    // command.
    if (!(error instanceof CompileError)) {
      if (isAlone || !isStepsError(error)) throw error;
      found.push({ severity: "error", code: "step-unavailable", message: error.message });
    }
  }
  return { name, diagnostics: found };
}
