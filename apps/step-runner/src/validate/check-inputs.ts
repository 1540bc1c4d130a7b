import { existsSync, statSync } from "node:fs";
import { type CommandLine, UsageError } from "@steps/console";
import { CompileError } from "@steps/engine";
import { type Diagnostic, formatReference, isStepsError, type StepReference } from "@steps/model";
import { openEngine } from "../open-engine.ts";
import { readSource } from "../read-source.ts";
import { parseArgument, readReference } from "../reference-argument.ts";
import type { Checked } from "../reports/checked.ts";
import { StopSignals } from "../signals.ts";
import { checkFile, type CheckOptions, checkText } from "./check-file.ts";
import { findFiles } from "./find-files.ts";

/**
 * Looks at everything that the arguments name: files, folders with all step files and CI files in them, references,
 * standard input for `-`, `--json`; the variable STEPS without any. @throws {UsageError}
 */
export async function checkInputs(line: CommandLine): Promise<readonly Checked[]> {
  const options: CheckOptions = {
    isLenient: line.boolean("lenient"),
    isStrict: line.boolean("strict"),
    jobName: line.string("job-name"),
    variables: line.pairs("variable"),
  };
  const { positionals } = line;
  const json = line.string("json");
  if (json !== undefined && positionals.length > 0) throw new UsageError("Both --json and an argument are given");
  if (json !== undefined) return [checkText(json === "-" ? stdin() : { name: "<argument>", text: json }, options)];
  if (line.string("git-url") !== undefined) return [await checkReference(line, readReference(line) as StepReference)];
  if (positionals.length === 0) return [checkText(steps(), options)];
  const checked: Checked[] = [];
  for (const item of positionals) checked.push(...(await checkArgument(line, item, options)));
  return checked;
}

async function checkArgument(line: CommandLine, item: string, options: CheckOptions): Promise<readonly Checked[]> {
  if (item === "-") return [checkText(stdin(), options)];
  const stat = existsSync(item) ? statSync(item) : undefined;
  if (stat?.isDirectory() === true) return findFiles(item).map((path) => checkFile(path, options));
  if (stat?.isFile() === true && !/\.zip$/i.test(item)) return [checkFile(item, options)];
  if (/^[^:@]+\.(?:ya?ml|json)$/i.test(item)) throw new UsageError(`Cannot read "${item}": there is no such file`);
  return [await checkReference(line, parseArgument(item))];
}

function stdin(): { readonly name: string; readonly text: string } {
  return readSource("-");
}

function steps(): { readonly name: string; readonly text: string } {
  const text = process.env["STEPS"];
  if (text !== undefined) return { name: "STEPS", text };
  throw new UsageError("Nothing to read", "Name a file, a folder or a reference, give --json, or set STEPS.");
}

async function checkReference(line: CommandLine, reference: StepReference): Promise<Checked> {
  await using engine = openEngine(line);
  using stop = new StopSignals();
  const name = formatReference(reference);
  const found: Diagnostic[] = [];
  try {
    await engine.load(reference, process.cwd(), {
      signal: stop.signal,
      isLenient: line.boolean("lenient"),
      isStrict: line.boolean("strict"),
      onDiagnostics: (_path, diagnostics) => found.push(...diagnostics),
    });
  } catch (error) {
    // A step that does not compile has diagnostics already. If one step is all that was asked for, its error ends the
    // command.
    if (!(error instanceof CompileError)) {
      if (line.positionals.length < 2 || !isStepsError(error)) throw error;
      found.push({ severity: "error", code: "step-unavailable", message: error.message });
    }
  }
  return { name, diagnostics: found };
}
