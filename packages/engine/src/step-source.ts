import { join, relative, resolve } from "node:path";
import { compileStepFile, type Compiled, type CompilerDiagnostic } from "@steps/compiler";
import { isStepsError } from "@steps/model";
import type { Source } from "@steps/model/diagnostic";
import type { LocalReference } from "@steps/model/reference";
import { decodeSource } from "@steps/model/utf8";
import { CompiledTexts } from "./compiled-texts.ts";
import { findStepFile, type StepFile } from "./find-step-file.ts";

/** How strictly the text of a step file is read. */
interface Strictness {
  /** Whether unknown keys are warnings instead of errors. Default: no. */
  readonly isLenient?: boolean | undefined;
  /** Whether inputs and outputs without a type are errors. Default: no. */
  readonly requiresTypes?: boolean | undefined;
}

let checked: { readonly source: Source; readonly isLenient: boolean; readonly compiled: Compiled } | undefined;

/**
 * Compiles a step file that a run is going to begin with, and gives the diagnostics if names in its expressions are all that is
 * wrong with it: no run of it could succeed. Everything else is said by the run, which does not compile the file once more.
 */
export function checkFirstStep(
  { path, file }: LocalReference,
  baseDir: string,
  { isLenient = false }: Strictness,
): readonly CompilerDiagnostic[] {
  const found = findFile(resolve(baseDir, path), file);
  if (found === undefined) return [];
  const source = decodeSource(nameOfFile(found), found.content);
  const compiled = compileStepFile(source, { isLenient, unknownNames: "run" });
  if (compiled.specDefinition !== undefined) {
    checked = { source, isLenient, compiled };
    return [];
  }
  const errors = compiled.diagnostics.filter(({ severity }) => severity === "error");
  return errors.every(({ code }) => code === "unknown-name" || code === "unknown-function") ? compiled.diagnostics : [];
}

const compiledFiles = new CompiledTexts<Compiled>();

/** Compiles the text of a step file, unless it was compiled or checked just so. */
export function compileSource(source: Source, { isLenient = false, requiresTypes = false }: Strictness): Compiled {
  const isChecked = checked?.source.name === source.name && checked.source.text === source.text;
  if (isChecked && checked?.isLenient === isLenient && !requiresTypes && source.malformed === undefined)
    return checked.compiled;
  const options = { isLenient, requiresTypes };
  return compiledFiles.compile(source, JSON.stringify(options), () => compileStepFile(source, options));
}

/** The name of a step file of this machine in messages: its path from the current directory, unless it lies outside. */
export function nameOfFile({ dir, file }: Pick<StepFile, "dir" | "file">): string {
  const path = join(dir, file);
  const shown = relative(process.cwd(), path);
  return shown.startsWith("..") ? path : shown;
}

function findFile(dir: string, file: string | undefined): StepFile | undefined {
  try {
    return findStepFile(dir, file, undefined);
  } catch (error) {
    if (isStepsError(error)) return undefined;
    throw error;
  }
}
