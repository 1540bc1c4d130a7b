import { dirname, relative } from "node:path";
import { UsageError } from "@steps/console";
import { type JudgedJob, judgeJob, compileJob } from "@steps/gitlab-ci";
import { sortDiagnostics } from "@steps/gitlab-ci/load";
import { SituationError } from "@steps/gitlab-ci/rules";
import { predefinedVariables, type Variable } from "@steps/gitlab-ci/variables";
import { hasErrors } from "@steps/model/diagnostic";
import { absolute } from "./absolute.ts";
import { showDiagnostics } from "./diagnose.ts";
import { type CiFileOptions, givenVariables, loadCiFile } from "./load-ci-file.ts";
import { jobNameOf, type LocalJob } from "./read-job.ts";
import { readLocalSituation } from "./situation/local-situation.ts";
import { readVariablesFile } from "./situation/read-variables-file.ts";
import type { SituationOptions } from "./situation/situation-flags.ts";

/** A job with where it runs and what its rules say. */
export interface LocalJudgedJob extends LocalJob {
  readonly judged: JudgedJob;
}

/** The options that say which job is judged, and in what situation. */
export type JudgeOptions = CiFileOptions & SituationOptions & { readonly maskVariable: readonly string[] };

/**
 * Reads the job that the flags name, decides whether its rules let it in, and shows what is wrong with it. `undefined` if it cannot
 * run. @throws {UsageError}
 */
export async function readJudgedJob(options: JudgeOptions, path: string): Promise<LocalJudgedJob | undefined> {
  const file = await loadCiFile(options, path);
  if (file === undefined) return undefined;
  const { pipeline: loaded, workDir } = file;
  const jobName = jobNameOf(options, file);
  const { situation, pipeline } = await readLocalSituation(options, {
    workDir,
    configPath: relative(workDir, absolute(path)),
  });
  const overrides = { ...readVariablesFile(options.variablesFile), ...givenVariables(options) };
  const given = new Map<string, Variable>(
    Object.entries(overrides).map(([name, value]) => {
      return [name, { value, isRaw: false, isMasked: options.maskVariable.includes(name) }];
    }),
  );
  const { judged, diagnostics } = await judgeJob(loaded, {
    jobName,
    situation,
    sources: (job) => ({ ...predefinedVariables({ pipeline, job }), pipeline: given }),
  }).catch((error: unknown) => {
    if (error instanceof SituationError) throw new UsageError(error.message, "Name another with --changes-since.");
    throw error;
  });
  const runner = { projectDir: workDir, buildsDir: dirname(workDir), isDisposable: false };
  const sources = judged && { ...judged.sources, ...predefinedVariables({ pipeline, job: judged.facts, runner }) };
  const translated = compileJob(loaded, { jobName, sources, overrides });
  const found = [...file.diagnostics, ...translated.diagnostics, ...diagnostics];
  showDiagnostics(options, sortDiagnostics(found, loaded.sources));
  const { job } = translated;
  return job === undefined || judged === undefined || hasErrors(diagnostics) ? undefined : { job, workDir, judged };
}
