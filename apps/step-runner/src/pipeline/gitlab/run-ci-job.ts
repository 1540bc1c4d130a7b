import { compileJob, type CompileJobResult } from "@steps/gitlab-ci";
import { hasArtifacts, type PlannedJob } from "@steps/gitlab-ci/pipeline";
import { predefinedVariables } from "@steps/gitlab-ci/variables";
import { type Diagnostic, formatDiagnostic } from "@steps/model/diagnostic";
import type { InstanceName, JobResult } from "@steps/pipeline";
import { sha256 } from "@steps/platform";
import { ciJobEnvironment } from "../../environment/ci-job-environment.ts";
import { type AttemptTerms, attemptTerms } from "../../run/attempt-terms.ts";
import type { CoverageReader } from "../../run/coverage.ts";
import { placeJob, withImageName } from "../../job-containers/place-job.ts";
import type { JobRun } from "../../job-containers/run-placed-job.ts";
import { storeInputs } from "../../files/job-stores.ts";
import { jobResultOf, runEngineJob } from "../run-engine-job.ts";
import type { CiContext, CiPipeline } from "./ci-pipeline.ts";
import { dotenvVariables } from "./dotenv-variables.ts";
import { foreignArtifacts } from "./foreign-artifacts.ts";
import { keepArtifacts } from "./keep-artifacts.ts";
import { storesOf } from "./stores-of.ts";

/** A job with its pipeline. */
export interface CiJob {
  readonly ci: CiPipeline;
  readonly work: PlannedJob;
  readonly of: InstanceName;
}

/** Runs a job of a CI file, and keeps its artifacts where the user wants them. */
export async function runCiJob(context: CiContext, one: CiJob, signal: AbortSignal): Promise<JobResult> {
  const result = await runAttempts(context, one, signal);
  const { artifactsDir: target } = context.options;
  const { job } = one.work;
  const { path } = one.ci;
  if (target !== undefined && hasArtifacts(job)) {
    const { artifactsDir } = storesOf(context, path);
    await keepArtifacts({ artifactsDir, job: job.name, path, target });
  }
  return result;
}

// As often as `retry` says.
async function runAttempts(context: CiContext, one: CiJob, signal: AbortSignal): Promise<JobResult> {
  const { ci, work, of } = one;
  const terms = await attemptTerms(work.terms);
  for (let attempt = 1; ; attempt++) {
    const coverage = terms.createCoverage?.();
    const attemptIn = (workDir: string): Promise<JobRun | JobResult> =>
      attemptJob(context, { ...one, workDir, terms, attempt, coverage }, signal);
    const ended = await context.inWorkspace(attemptIn, signal);
    if (ended === undefined) return { status: "cancelled", reason: "The pipeline was cancelled" };
    if ("status" in ended) return ended;
    const result = jobResultOf(ended);
    if (!signal.aborted && terms.isRetried(ended.outcome, attempt)) {
      context.view.onEvent({ type: "instance-retried", ...of, attempt, result }, ci.path);
      await forgetArtifacts(context, one);
      continue;
    }
    const attempts = attempt === 1 ? undefined : attempt;
    const isAllowed = terms.isAllowedToFail(ended.outcome);
    return { ...result, attempts, coverage: coverage?.end(), isAllowedToFail: isAllowed };
  }
}

// The files that an attempt has kept are not those of the next one, which may keep nothing.
async function forgetArtifacts(context: CiContext, { ci, work: { job } }: CiJob): Promise<void> {
  if (!hasArtifacts(job)) return;
  const { removeArtifacts } = await import("@steps/builtins/run");
  await removeArtifacts(storesOf(context, ci.path).artifactsDir, job.name);
}

interface CiAttempt extends CiJob {
  readonly workDir: string;
  readonly terms: AttemptTerms;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly coverage: CoverageReader | undefined;
}

async function attemptJob(
  context: CiContext,
  { ci, work, of, workDir, terms, attempt, coverage }: CiAttempt,
  signal: AbortSignal,
): Promise<JobRun | JobResult> {
  const { loaded, facts, given, file, path, planned } = ci;
  const { job } = work;
  const dotenv = await dotenvVariables(context, ci, work);
  const foreign = await foreignArtifacts(context, ci, work);
  const inputs = givenInputs(context, ci, work);
  const choice = await placeJob(context.options, job, { workDir, project: facts.project, inputs });
  const compile = (image: string | undefined): CompileJobResult => {
    const known = predefinedVariables({
      pipeline: facts,
      job: { ...work.facts, image },
      runner: choice.runner,
      sha256,
    });
    const sources = { ...work.sources, ...known, pipeline: given, dotenv };
    const grants = Object.keys(context.options.secret);
    const fileVariables = Object.keys(context.options.fileVariable);
    const artifactsFrom = [...foreign, ...planned.artifactsOf(work)];
    const folder = context.options.inPlace ? "project" : "copy";
    return compileJob(loaded, { jobName: job.name, sources, artifactsFrom, grants, fileVariables, folder });
  };
  const compiled = withImageName(job, inputs, compile);
  if (compiled.job === undefined) return malformed(compiled.diagnostics);
  const { specDefinition, positionOf, variables: vars } = compiled.job;
  const { place, diagnostics } = choice.withVariables(vars);
  if (place === undefined) return malformed(diagnostics);
  const env = ciJobEnvironment(context.options, vars, place);
  const stores = storeInputs(specDefinition, storesOf(context, path));
  return runEngineJob(
    context,
    {
      of: { path, ...of },
      job: {
        entry: "local",
        name: path + job.name,
        source: file,
        specDefinition,
        positionOf,
        inputs: { ...inputs, ...stores },
        stores: storesIn(stores),
        vars,
        env,
        workDir,
        baseDir: workDir,
      },
      timeoutMs: work.terms.timeoutMs,
      coverage,
      place,
      isRetried: (outcome) => terms.isRetried(outcome, attempt),
    },
    signal,
  );
}

function givenInputs(
  { options: { only, jobInput } }: CiContext,
  { path }: CiPipeline,
  { job }: PlannedJob,
): Readonly<Record<string, string>> {
  const isNamed = path === "" && (only.includes(job.name) || only.includes(job.groupName));
  return isNamed ? { ...jobInput } : {};
}

function storesIn(inputs: Readonly<Record<string, string>>): readonly string[] | undefined {
  const names = Object.keys(inputs);
  return names.length === 0 ? undefined : names;
}

function malformed(diagnostics: readonly Diagnostic[]): JobResult {
  const error = diagnostics.find(({ severity }) => severity === "error");
  return { status: "failure", reason: error === undefined ? "The job is malformed" : formatDiagnostic(error) };
}
