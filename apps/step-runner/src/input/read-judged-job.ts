import type { CompileOptions } from "@steps/compiler";
import { compileJob, type CompileJobResult, type JudgedJob, judgeJob, unknownNamesOf } from "@steps/gitlab-ci";
import { jobNamed, sortDiagnostics } from "@steps/gitlab-ci/load";
import { predefinedVariables } from "@steps/gitlab-ci/variables";
import { hasErrors } from "@steps/model/diagnostic";
import { sha256 } from "@steps/platform";
import { callProblems } from "./call-problems.ts";
import { showDiagnostics } from "./diagnose.ts";
import type { ExecutorOptions } from "../job-containers/executor-flags.ts";
import { type JobPlace, placeJob, withImageName } from "../job-containers/place-job.ts";
import { type CiFileOptions, loadCiFile } from "./load-ci-file.ts";
import { jobNameOf, type LocalJob } from "./read-job.ts";
import { explainSituation, type GivenSituationOptions, situationOf } from "./read-given-situation.ts";

/** A job with where it runs and what its rules say. */
export interface LocalJudgedJob extends LocalJob {
  readonly judged: JudgedJob;
  readonly place: JobPlace;
}

/** The options that say which job is judged, and in what situation. */
export type JudgeOptions = CiFileOptions &
  GivenSituationOptions &
  ExecutorOptions & {
    readonly inPlace: boolean;
    /** The job is only explained. Default: it is going to run. */
    readonly explain?: boolean;
    /** The inputs of the job. */
    readonly jobInput: Readonly<Record<string, string>>;
  };

/** Gives the folder that the job of a project will run in. Both are absolute. */
export type PlaceOf = (project: string) => Promise<string> | string;

/**
 * Reads the job that the flags name, decides whether its rules let it in, and shows what is wrong with it. `undefined` if it cannot
 * run. @throws {UsageError}
 */
export async function readJudgedJob(
  options: JudgeOptions,
  path: string,
  placeOf: PlaceOf,
): Promise<LocalJudgedJob | undefined> {
  const file = await loadCiFile(options, path);
  if (file === undefined) return undefined;
  const { pipeline: loaded, workDir } = file;
  const jobName = jobNameOf(options, file);
  const { situation, pipeline, overrides, sourcesOf } = await situationOf(options, file, path);
  const { judged, diagnostics } = await judgeJob(loaded, { jobName, situation, sources: sourcesOf }).catch(
    explainSituation,
  );
  const loadedJob = jobNamed(loaded, jobName);
  const jobDir = await placeOf(workDir);
  const choice =
    loadedJob &&
    (await placeJob(options, loadedJob, { workDir: jobDir, project: pipeline.project, inputs: options.jobInput }));
  const severity = unknownNames(options, judged);
  const compile = (image: string | undefined): CompileJobResult => {
    const facts = { pipeline, job: judged && { ...judged.facts, image }, runner: choice?.runner, sha256 };
    const sources = judged && { ...judged.sources, ...predefinedVariables(facts) };
    const fileVariables = Object.keys(options.fileVariable ?? {});
    return compileJob(loaded, {
      jobName,
      sources,
      overrides,
      grants: Object.keys(options.secret ?? {}),
      fileVariables,
      folder: options.inPlace ? "project" : "copy",
      unknownNames: severity,
    });
  };
  const compiled = loadedJob === undefined ? compile(undefined) : withImageName(loadedJob, options.jobInput, compile);
  const { job } = compiled;
  const placed = job && choice?.withVariables(job.variables);
  const calls = job && loadedJob?.own.has("run") === true ? await callProblems(job, { dirs: [workDir], severity }) : [];
  const ofJob = [...compiled.diagnostics, ...calls];
  const found = [...file.diagnostics, ...ofJob, ...diagnostics, ...(placed?.diagnostics ?? [])];
  showDiagnostics(options, sortDiagnostics(found, loaded.sources));
  const place = placed?.place;
  if (job === undefined || judged === undefined || place === undefined || hasErrors([...diagnostics, ...calls]))
    return undefined;
  return { job, includedFiles: file.files, workDir: jobDir, judged, place };
}

// A job that does not run, or not before somebody says so, is not refused.
function unknownNames(
  { explain = false }: JudgeOptions,
  judged: JudgedJob | undefined,
): CompileOptions["unknownNames"] {
  if (explain || judged === undefined || judged.workflow?.isIn === false) return "warning";
  return unknownNamesOf(judged.job);
}
