import type { LoadedSource } from "@steps/ci-project";
import { UsageError } from "@steps/console";
import type { LoadedPipeline } from "@steps/gitlab-ci/load";
import type { Diagnostic } from "@steps/model/diagnostic";
import { existsSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { absolute } from "../files/absolute.ts";
import { type MaskOptions, showDiagnostics } from "./diagnose.ts";
import { givenVariables, readInputs } from "./given-variables.ts";
import { loadSource, type LoadSourceOptions } from "./load-source.ts";
import { nameJobFile } from "../files/job-files.ts";
import { readSource } from "../files/read-source.ts";
import { readVariablesFile } from "../situation/read-variables-file.ts";
import type { JobOptions } from "./read-job.ts";

const CI_FILE = ".gitlab-ci.yml";

/** The options of a command that say something about a CI file that is loaded. */
export type CiFileOptions = JobOptions & MaskOptions & LoadSourceOptions;

/** A `.gitlab-ci.yml` with all that it includes, loaded once for everything that a command does with it. */
export interface CiFile extends CiPlace, Pick<LoadedSource, "local" | "files" | "resources"> {
  readonly pipeline: LoadedPipeline;
  /** Warnings and notes of the loader. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The project that a CI file is of, and the variables that are known there. */
export interface CiPlace {
  /** Absolute: the project's folder. */
  readonly workDir: string;
  /** The variables that are known of every job that runs here. */
  readonly predefined: Readonly<Record<string, string>>;
  /** The job variables that flags give. */
  readonly overrides: Readonly<Record<string, string>>;
}

/** Loads a CI file, and shows what is wrong with it. `undefined` if it cannot be used. @throws {UsageError} */
export async function loadCiFile(options: Omit<CiFileOptions, "jobName">, path: string): Promise<CiFile | undefined> {
  const source = readSource(path);
  const place = placeOf(options, path);
  const {
    pipeline,
    readable: _,
    ...loaded
  } = await loadSource(options, source, { ...place, inputs: readInputs(options.input) });
  if (pipeline !== undefined) return { pipeline, ...loaded, ...place };
  showDiagnostics(options, loaded.diagnostics);
  return undefined;
}

/** Says which project a CI file is of. @throws {UsageError} */
export function placeOf(options: LoadSourceOptions & { readonly workDir?: string }, path: string): CiPlace {
  const workDir = options.workDir ?? absolute(dirname(path));
  return {
    workDir,
    predefined: { CI: "true", GITLAB_CI: "true", CI_PROJECT_DIR: workDir },
    overrides: { ...readVariablesFile(options.variablesFile), ...givenVariables(options) },
  };
}

/**
 * The `.gitlab-ci.yml` of the current folder, or of the nearest one above it up to the top of the repository, as the user would
 * write its path from here. @throws {UsageError} if there is none
 */
export function findCiFile(): string {
  const found = nearestCiFile(process.cwd());
  if (found !== undefined) return relative(process.cwd(), found);
  throw new UsageError(`There is no ${CI_FILE} here or in a folder above`, nameJobFile("."));
}

/**
 * The file of jobs that an argument names; without one `findCiFile()` finds it. `jobFlag` is the flag of the command that names a
 * job, for those who write a job in place of a file. @throws {UsageError} if it is a folder, or not there
 */
export function namedCiFile(path: string | undefined, jobFlag: string): string {
  if (path === undefined) return findCiFile();
  if (path === "-") return path;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) throw new UsageError(`"${path}" is a folder, and not a file`, nameJobFile(path));
  if (found === undefined && !path.includes("/") && hasCiFile())
    throw new UsageError(`There is no file "${path}"`, `If it is a job, write --${jobFlag} ${path}.`);
  return path;
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
