import { UsageError } from "@steps/console";
import { loadPipeline, type LoadedPipeline, type LoadPipelineResult } from "@steps/gitlab-ci/load";
import type { Diagnostic, Source } from "@steps/model/diagnostic";
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { absolute } from "./absolute.ts";
import { type MaskOptions, showDiagnostics } from "./diagnose.ts";
import { type GivenOptions, variablesFromEnvironment } from "./job-flags.ts";
import { projectFiles } from "./project-files.ts";
import { readSource } from "./read-source.ts";
import type { JobOptions } from "./read-job.ts";

const CI_FILE = ".gitlab-ci.yml";

/** The options of a command that say something about a CI file that is loaded. */
export type CiFileOptions = JobOptions & Partial<GivenOptions> & MaskOptions;

/** A `.gitlab-ci.yml` with all that it includes, loaded once for everything that a command does with it. */
export interface CiFile {
  readonly pipeline: LoadedPipeline;
  /** Warnings and notes of the loader. */
  readonly diagnostics: readonly Diagnostic[];
  /** Absolute: the project's folder. */
  readonly workDir: string;
  /** The variables that are known of every job that runs here. */
  readonly predefined: Readonly<Record<string, string>>;
  /** The job variables that flags give. */
  readonly overrides: Readonly<Record<string, string>>;
}

/** Loads a CI file, and shows what is wrong with it. `undefined` if it cannot be used. @throws {UsageError} */
export async function loadCiFile(options: Omit<CiFileOptions, "jobName">, path: string): Promise<CiFile | undefined> {
  if (options.input.length > 0) throw new UsageError("--input is given", "Only workflows of GitHub take inputs.");
  const source = readSource(path);
  const workDir = options.workDir ?? absolute(dirname(path));
  const predefined = { CI: "true", GITLAB_CI: "true", CI_PROJECT_DIR: workDir };
  const overrides = givenVariables(options);
  const variables = { ...predefined, ...overrides };
  const { pipeline, diagnostics } = await loadCiText(source, { workDir, variables });
  if (pipeline !== undefined) return { pipeline, diagnostics, workDir, predefined, overrides };
  showDiagnostics(options, diagnostics);
  return undefined;
}

/** Loads a configuration that may stand in no file, with what it includes from the project. */
export function loadCiText(
  source: Source,
  { workDir, variables }: { readonly workDir: string; readonly variables: Readonly<Record<string, string>> },
): Promise<LoadPipelineResult> {
  return loadPipeline(source, projectFiles(workDir, variables));
}

/** The job variables that flags give: one by one before those of the environment. */
export function givenVariables(options: Pick<JobOptions, "variable"> & Partial<GivenOptions>): Record<string, string> {
  return { ...variablesFromEnvironment(options), ...options.variable };
}

/**
 * The `.gitlab-ci.yml` of the current folder, or of the nearest one above it up to the top of the repository, as the user would
 * write its path from here. @throws {UsageError} if there is none
 */
export function findCiFile(): string {
  const found = nearestCiFile(process.cwd());
  if (found !== undefined) return relative(process.cwd(), found);
  throw new UsageError(`There is no ${CI_FILE} here or in a folder above`, "Name the file.");
}

/** Tells whether `findCiFile()` finds a file. */
export function hasCiFile(): boolean {
  return nearestCiFile(process.cwd()) !== undefined;
}

function nearestCiFile(folder: string): string | undefined {
  const path = join(folder, CI_FILE);
  if (existsSync(path)) return path;
  const parent = dirname(folder);
  return parent === folder || existsSync(join(folder, ".git")) ? undefined : nearestCiFile(parent);
}
