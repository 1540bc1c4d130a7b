import { dirname } from "node:path";
import { compileJob, judgeJob } from "@steps/gitlab-ci";
import { sortDiagnostics } from "@steps/gitlab-ci/load";
import { planPipeline } from "@steps/gitlab-ci/pipeline";
import { predefinedVariables } from "@steps/gitlab-ci/variables";
import { hasErrors } from "@steps/model/diagnostic";
import { sha256 } from "@steps/platform";
import { showDiagnostics } from "./diagnose.ts";
import { type CiFileOptions, loadCiFile } from "./load-ci-file.ts";
import { situationOf } from "./read-given-situation.ts";
import { jobNameOf, type LocalJob } from "./read-job.ts";

/**
 * Reads the job that the flags name as a runner has it that starts with an empty folder, in the situation that the flags name, and
 * shows what is wrong with it. `undefined` if it cannot run. @throws {UsageError}
 */
export async function readRunnerJob(options: CiFileOptions, path: string): Promise<LocalJob | undefined> {
  const file = await loadCiFile(options, path);
  if (file === undefined) return undefined;
  const { pipeline: loaded, workDir } = file;
  const jobName = jobNameOf(options, file);
  const { situation, pipeline, given, overrides, sourcesOf } = await situationOf(options, file, path);
  const { judged, diagnostics } = await judgeJob(loaded, { jobName, situation, sources: sourcesOf });
  // Mistakes in other jobs do not matter here.
  const planned = await planPipeline(loaded, { situation, sources: sourcesOf });
  const work = planned.jobNamed(jobName);
  const runner = { projectDir: workDir, buildsDir: dirname(workDir), isDisposable: false };
  const known = predefinedVariables({ pipeline, job: judged?.facts, runner, sha256 });
  const translated = compileJob(loaded, {
    jobName,
    sources: { ...judged?.sources, ...known, pipeline: given },
    overrides,
    artifactsFrom: work && planned.artifactsOf(work),
    fileVariables: Object.keys(options.fileVariable ?? {}),
    folder: "empty",
  });
  const found = [...file.diagnostics, ...diagnostics, ...translated.diagnostics];
  showDiagnostics(options, sortDiagnostics(found, loaded.sources));
  if (translated.job === undefined || hasErrors(diagnostics)) return undefined;
  return { job: translated.job, includedFiles: file.files, workDir };
}
