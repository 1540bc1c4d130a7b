import { assertWritable, complain, errors, progressMode } from "@steps/console/terminal";
import type { Engine } from "@steps/engine";
import type { Outcome } from "@steps/model";
import { quote } from "@steps/model/diagnostic";
import { formatReference } from "@steps/model/reference";
import { JOB_EXITS } from "@steps/model/exit-codes";
import { hideEnvironment } from "../environment/hide-environment.ts";
import type { JobView } from "@steps/pipeline-view";
import type { RunOptions } from "../flags/run-flags.ts";
import type { JobRun } from "../job-containers/run-placed-job.ts";
import { openEngine } from "../open-engine.ts";
import { StopSignals } from "../signals.ts";
import { writeTrace } from "../traces/write-trace.ts";
import { type AttemptDefaults, attemptJob } from "./attempt-job.ts";
import type { CommandJob } from "./command-job.ts";
import { hurryOutputAfter } from "./timer.ts";
import { hasFailed } from "./has-failed.ts";
import { resultsFile as resultsFileOf, writeResults } from "./write-results.ts";

/** A job, or a function that finds it out once there is an engine. */
export type JobSource = CommandJob | ((engine: Engine, signal: AbortSignal) => Promise<CommandJob>);

/** The values of flags that are not given. */
export interface RunDefaults extends AttemptDefaults {
  /** The file that the trace is written to. Default: none. */
  readonly outputFile?: string;
  /** Prints a report of the job on standard output; the output of the job goes to standard error then. Default: none. */
  readonly printReport?: ((ended: ReportedRun) => Promise<void>) | undefined;
  /** Shows the outputs of a job that has succeeded, unless there is a report or `--quiet`. Default: nobody does. */
  readonly tellOutputs?: () => Promise<void>;
}

/** The end of a job, for a report. */
export interface ReportedRun {
  /** The last attempt. */
  readonly run: JobRun;
  /** The time that all attempts took, in milliseconds. */
  readonly durationMs: number;
  readonly attempts: number;
  readonly isAllowedToFail: boolean;
  /** In percent. Absent when none was looked for or found. */
  readonly coverage: number | undefined;
}

/** Runs a job as often as its terms say, shows it, writes what was asked for, and gives the exit code. */
export async function runJob(given: RunOptions, source: JobSource, defaults: RunDefaults = {}): Promise<number> {
  const options = { ...given, quiet: progressMode(given) === "quiet" };
  hideEnvironment();
  using stop = new StopSignals();
  const files = { outputFile: options.outputFile ?? defaults.outputFile, resultsFile: resultsFileOf(options) };
  const paths = Object.values(files);
  for (const path of paths) if (path !== undefined) assertWritable(path);
  await using engine = openEngine(options, { excluded: paths });
  const start = performance.now();
  const last = await runAttempts(options, { source, engine, stop, files, defaults });
  await writeFiles(options, files, last.run);
  await tellEnd(options, files, last);
  const tellsOutputs = !options.quiet && defaults.printReport === undefined && last.run.exitCode === 0;
  if (tellsOutputs) await defaults.tellOutputs?.();
  const isAllowedToFail = hasFailed(last.run.outcome) && defaults.terms?.isAllowedToFail(last.run.outcome) === true;
  const { run, attempts, coverage } = last;
  await defaults.printReport?.({ run, durationMs: performance.now() - start, attempts, isAllowedToFail, coverage });
  if (!isAllowedToFail) return run.exitCode;
  if (!options.quiet) complain(`The job ${quote(last.job.name ?? "")} failed, which is allowed`);
  return JOB_EXITS.success.code;
}

/** The files that a run is written to. */
interface RunFiles {
  readonly outputFile: string | undefined;
  readonly resultsFile: string | undefined;
}

interface Attempts {
  readonly source: JobSource;
  readonly engine: Engine;
  readonly stop: StopSignals;
  readonly files: RunFiles;
  readonly defaults: RunDefaults;
}

/** The last attempt of a job. */
interface LastAttempt extends Pick<ReportedRun, "run" | "attempts" | "coverage"> {
  readonly job: CommandJob;
  readonly view: JobView | undefined;
}

async function runAttempts(
  options: RunOptions,
  { source, engine, stop, files, defaults }: Attempts,
): Promise<LastAttempt> {
  const { terms, printReport } = defaults;
  const shared = {
    engine,
    stop,
    hasReport: printReport !== undefined,
    wantsResult: files.resultsFile !== undefined,
    wantsTrace: files.outputFile !== undefined,
    defaults,
  };
  for (let attempt = 1; ; attempt++) {
    const hurry = hurryOutputAfter(options.timeout);
    const coverage = terms?.createCoverage?.();
    const job = typeof source === "function" ? await source(engine, stop.signal) : source;
    const { run, view } = await attemptJob(options, { ...shared, job, attempt, coverage });
    const isLast = terms?.isRetried(run.outcome, attempt) !== true || stop.signal.aborted;
    // Output that is still to be printed after the last one has no more time than the job.
    if (isLast) return { run, attempts: attempt, coverage: coverage?.end(), job, view };
    hurry[Symbol.dispose]();
    if (!options.quiet) complain(`Attempt ${attempt} failed: ${reasonOf(run.outcome)}`);
  }
}

async function writeFiles(
  { stepResultsFormat }: RunOptions,
  { outputFile, resultsFile }: RunFiles,
  { trace, result }: JobRun,
): Promise<void> {
  if (outputFile !== undefined) writeTrace(outputFile, trace());
  if (resultsFile !== undefined && result !== undefined) await writeResults(resultsFile, stepResultsFormat, result);
}

async function tellEnd(
  { quiet }: RunOptions,
  { outputFile }: RunFiles,
  { run, coverage, view, job }: LastAttempt,
): Promise<void> {
  const { outcome, unmaskable, partlyEncoded } = run;
  if (outcome.status !== "success") complain(namingStep(reasonOf(outcome), job));
  if (hasFailed(outcome) && view !== undefined) {
    const { explainFailure } = await import("./explain-failure.ts");
    void errors.writeLines(explainFailure(view, { job, traceId: run.directory.traceId, outputFile }));
  }
  if (unmaskable > 0)
    complain(
      unmaskable === 1 ? "A value is too short to be masked" : `${unmaskable} values are too short to be masked`,
    );
  if (partlyEncoded > 0)
    complain(`The job has so many secrets that not all encodings of ${partlyEncoded} of them were masked`);
  if (quiet) return;
  if (outputFile !== undefined) void errors.writeLines(`Trace: ${outputFile}\n`);
  if (coverage === undefined) return;
  // Most jobs have none.
  const { formatCoverage } = await import("@steps/pipeline-view");
  void errors.writeLines(`Coverage: ${formatCoverage(coverage)}\n`);
}

// The only step of a reference that was typed has no name of its own, and its number says nothing.
function namingStep(reason: string, { source, specDefinition: { definition } }: CommandJob): string {
  const [only, ...others] = definition.type === "steps" ? definition.steps : [];
  const isTyped = only?.name === "" && others.length === 0 && formatReference(only.step) === source;
  return isTyped ? reason.replace(/^step #1:/, () => `${source}:`) : reason;
}

function reasonOf({ status, error }: Outcome): string {
  return error?.message ?? `The job ended: ${status}`;
}
