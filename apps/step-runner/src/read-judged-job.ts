import { dirname } from "node:path";
import { compileJob, type JudgedJob, judgeJob } from "@steps/gitlab-ci";
import { sortDiagnostics } from "@steps/gitlab-ci/load";
import { predefinedVariables } from "@steps/gitlab-ci/variables";
import { hasErrors } from "@steps/model/diagnostic";
import { sha256 } from "@steps/platform";
import { showDiagnostics } from "./diagnose.ts";
import { type CiFileOptions, loadCiFile } from "./load-ci-file.ts";
import { jobNameOf, type LocalJob } from "./read-job.ts";
import { explainSituation, type GivenSituationOptions, readGivenSituation } from "./read-given-situation.ts";

/** A job with where it runs and what its rules say. */
export interface LocalJudgedJob extends LocalJob {
  readonly judged: JudgedJob;
}

/** The options that say which job is judged, and in what situation. */
export type JudgeOptions = CiFileOptions & GivenSituationOptions;

/**
 * Reads the job that the flags name, decides whether its rules let it in, and shows what is wrong with it. `undefined` if it cannot
 * run. @throws {UsageError}
 */
export async function readJudgedJob(options: JudgeOptions, path: string): Promise<LocalJudgedJob | undefined> {
  const file = await loadCiFile(options, path);
  if (file === undefined) return undefined;
  const { pipeline: loaded, workDir } = file;
  const jobName = jobNameOf(options, file);
  const local = file.local ?? (await readGivenSituation(options, { workDir, path }));
  const { situation, pipeline, given, overrides } = local;
  const { judged, diagnostics } = await judgeJob(loaded, {
    jobName,
    situation,
    sources: (job) => ({ ...predefinedVariables({ pipeline, job, sha256 }), pipeline: given }),
  }).catch(explainSituation);
  const runner = { projectDir: workDir, buildsDir: dirname(workDir), isDisposable: false };
  const known = judged && predefinedVariables({ pipeline, job: judged.facts, runner, sha256 });
  const sources = judged && { ...judged.sources, ...known };
  const translated = compileJob(loaded, { jobName, sources, overrides });
  const found = [...file.diagnostics, ...translated.diagnostics, ...diagnostics];
  showDiagnostics(options, sortDiagnostics(found, loaded.sources));
  const { job } = translated;
  return job === undefined || judged === undefined || hasErrors(diagnostics) ? undefined : { job, workDir, judged };
}
