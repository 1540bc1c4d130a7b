import { relative } from "node:path";
import { type GivenSituation, type LocalSituationOptions, readLocalSituation } from "@steps/ci-project";
import { UsageError } from "@steps/console";
import { SituationError } from "@steps/gitlab-ci/rules";
import { type JobFacts, predefinedVariables, type Variable, type VariableSources } from "@steps/gitlab-ci/variables";
import { sha256 } from "@steps/platform";
import { absolute } from "../files/absolute.ts";
import type { GivenOptions } from "../flags/job-flags.ts";
import type { IncludeOptions } from "../flags/include-flags.ts";
import type { EngineFlagOptions } from "../open-engine.ts";
import { withProjectFiles } from "./project-files.ts";
import { givenVariables } from "./given-variables.ts";
import type { JobOptions } from "./read-job.ts";
import type { SituationOptions } from "../situation/situation-flags.ts";
import { readVariablesFile } from "../situation/read-variables-file.ts";

/** The options that say in what situation a CI file is judged, and which variables it is given. */
export type GivenSituationOptions = LocalSituationOptions &
  Pick<Partial<SituationOptions>, "variablesFile"> &
  Pick<JobOptions, "variable"> &
  Partial<GivenOptions> & {
    /** The names of secrets that are variables of type file. */
    readonly fileVariable?: Readonly<Record<string, string>>;
    readonly maskVariable?: readonly string[];
  };

/** Reads the situation of a CI file. @throws {UsageError} */
export async function readGivenSituation(
  options: GivenSituationOptions & Partial<IncludeOptions> & EngineFlagOptions,
  { workDir, path }: { readonly workDir: string; readonly path: string },
): Promise<GivenSituation> {
  const configPath = relative(workDir, absolute(path));
  const local = await readLocalSituation(options, { workDir, configPath });
  const overrides = { ...readVariablesFile(options.variablesFile), ...givenVariables(options) };
  const entries = Object.entries(overrides).map(([name, value]): [string, Variable] => {
    return [name, { value, isRaw: false, isMasked: options.maskVariable?.includes(name) === true }];
  });
  // Rules see the contents, as on GitLab's server.
  const files = Object.keys(options.fileVariable ?? {}).map((name): [string, Variable] => {
    return [name, { value: options.secret?.[name] ?? "", isRaw: true, isFile: true, isMasked: true }];
  });
  const given = { ...local, given: new Map([...entries, ...files]), overrides };
  return { ...given, situation: withProjectFiles(options, { local: given, workDir }) };
}

/** The situation of a file, with the variables that its jobs have in it beside their own. */
export interface FileSituation extends GivenSituation {
  /** The variables of a job; without one those that the file itself sees. */
  readonly sourcesOf: (job?: JobFacts) => VariableSources;
}

/** The situation of a file that was loaded, which is read if loading it did not take it. @throws {UsageError} */
export async function situationOf(
  options: GivenSituationOptions & Partial<IncludeOptions> & EngineFlagOptions,
  { local, workDir }: { readonly local?: GivenSituation | undefined; readonly workDir: string },
  path: string,
): Promise<FileSituation> {
  const read = local ?? (await readGivenSituation(options, { workDir, path }));
  const { pipeline, given } = read;
  return { ...read, sourcesOf: (job) => ({ ...predefinedVariables({ pipeline, job, sha256 }), pipeline: given }) };
}

/** Turns what the situation cannot answer into a complaint about the flags. @throws {UsageError} */
export function explainSituation(error: unknown): never {
  if (error instanceof SituationError) throw new UsageError(error.message, "Name another with --changes-since.");
  throw error;
}
