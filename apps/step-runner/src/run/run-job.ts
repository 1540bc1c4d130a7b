import { assertWritable, complain, errors, hurryOutput, output } from "@steps/console/terminal";
import type { Engine } from "@steps/engine";
import { markVariables } from "@steps/engine/environment";
import type { Job, Outcome } from "@steps/model";
import { quote } from "@steps/model/diagnostic";
import { JOB_EXITS } from "@steps/model/exit-codes";
import { formatCoverage } from "@steps/pipeline-view";
import type { CoverageReader } from "./coverage.ts";
import { githubOptions } from "../flags/github-flags.ts";
import { givenByFlags } from "../flags/job-flags.ts";
import { hideEnvironment } from "../environment/hide-environment.ts";
import type { JobPlace } from "../job-containers/place-job.ts";
import { type JobRun, runPlacedJob } from "../job-containers/run-placed-job.ts";
import { openEngine } from "../open-engine.ts";
import { Progress } from "./progress.ts";
import type { RunOptions } from "../flags/run-flags.ts";
import { StopSignals } from "../signals.ts";
import { resultsFile as resultsFileOf, writeResults } from "./write-results.ts";
import { writeTrace } from "../traces/write-trace.ts";

/** The longest delay that a Node timer accepts, in milliseconds; a longer one would fire at once. */
export const MAX_TIMER_MS: number = 2_147_483_647;

/** A job as a command knows it: without the fields that the flags give (`runFlags`). */
export type CommandJob = Omit<Job, "offeredEnv" | "grants" | "maskedValues" | "mode">;

/** A job, or a function that finds it out once there is an engine. */
export type JobSource = CommandJob | ((engine: Engine, signal: AbortSignal) => Promise<CommandJob>);

/** The values of flags that are not given. */
export interface RunDefaults {
  /** The file that the trace is written to. Default: none. */
  readonly outputFile?: string;
  /** How long the job may take, in milliseconds. Default: as long as it needs. */
  readonly timeoutMs?: number;
  /** The place where the job runs. Default: this machine. */
  readonly place?: JobPlace;
  /** The terms that the job runs on. Default: it is tried once, and its failure is that of the command. */
  readonly terms?: AttemptTerms;
  /** Whether a shell is opened where the job has failed, after its last attempt. Default: no. */
  readonly hasShell?: boolean;
  /** Prints a report of the job on standard output; the output of the job goes to standard error then. Default: none. */
  readonly printReport?: ((ended: ReportedRun) => Promise<void>) | undefined;
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

/** The terms on which a job is tried, and what its end means. */
export interface AttemptTerms {
  /** Whether the job is tried again after an attempt, whose number is from 1. */
  readonly isRetried: (outcome: Outcome, attempt: number) => boolean;
  readonly isAllowedToFail: (outcome: Outcome) => boolean;
  /** Makes the reader of one attempt's output. The coverage that it finds is printed at the end. Default: no coverage is read. */
  readonly createCoverage?: (() => CoverageReader) | undefined;
}

/** Runs a job as often as its terms say, shows it, writes what was asked for, and gives the exit code. */
export async function runJob(options: RunOptions, source: JobSource, defaults: RunDefaults = {}): Promise<number> {
  hideEnvironment();
  using stop = new StopSignals();
  const timeoutMs = options.timeout;
  const outputFile = options.outputFile ?? defaults.outputFile;
  const resultsFile = resultsFileOf(options);
  for (const path of [outputFile, resultsFile]) if (path !== undefined) assertWritable(path);
  await using engine = openEngine(options, { excluded: [outputFile, resultsFile] });
  const { terms, printReport } = defaults;
  const start = performance.now();
  for (let attempt = 1; ; attempt++) {
    const hurry = timeoutMs === undefined ? undefined : setTimeout(hurryOutput, Math.min(timeoutMs, MAX_TIMER_MS));
    hurry?.unref();
    const coverage = terms?.createCoverage?.();
    const job = typeof source === "function" ? await source(engine, stop.signal) : source;
    const result = await attemptJob(options, {
      job,
      attempt,
      engine,
      stop,
      coverage,
      outputFile,
      resultsFile,
      defaults,
    });
    const { outcome } = result;
    if (terms?.isRetried(outcome, attempt) === true && !stop.signal.aborted) {
      clearTimeout(hurry);
      if (!options.quiet) complain(`Attempt ${attempt} failed: ${reasonOf(outcome)}`);
      continue;
    }
    if (outputFile !== undefined) writeTrace(outputFile, result.trace());
    if (resultsFile !== undefined && result.result !== undefined)
      await writeResults(resultsFile, options.stepResultsFormat, result.result);
    report(options, result, outputFile);
    const found = coverage?.end();
    if (found !== undefined && !options.quiet) void errors.writeLines(`Coverage: ${formatCoverage(found)}\n`);
    const isAllowedToFail = hasFailed(outcome) && terms?.isAllowedToFail(outcome) === true;
    const durationMs = performance.now() - start;
    await printReport?.({ run: result, durationMs, attempts: attempt, isAllowedToFail, coverage: found });
    if (!isAllowedToFail) return result.exitCode;
    if (!options.quiet) complain(`The job ${quote(job.name ?? "")} failed, which is allowed`);
    return JOB_EXITS.success.code;
  }
}

interface Attempt {
  readonly job: CommandJob;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly engine: Engine;
  readonly stop: StopSignals;
  readonly coverage: CoverageReader | undefined;
  readonly outputFile: string | undefined;
  readonly resultsFile: string | undefined;
  readonly defaults: RunDefaults;
}

function attemptJob(
  options: RunOptions,
  { job: given, attempt, engine, stop, coverage, outputFile, resultsFile, defaults }: Attempt,
): Promise<JobRun> {
  const progress = new Progress(options.quiet);
  const job = withFlags(options, given);
  const { terms, hasShell = false } = defaults;
  return runPlacedJob(engine, options, {
    place: defaults.place,
    isPrivate: job.workspace !== undefined,
    options: {
      job,
      github: githubOptions(options),
      isLenient: options.lenient,
      timeoutMs: options.timeout ?? defaults.timeoutMs,
      graceMs: options.grace,
      hurry: stop.hurry,
    },
    hooks: {
      onEvent: progress.onEvent,
      onProgress: progress.onProgress,
      onStep: progress.onStep,
      onOutput: (stream, chunk) => {
        coverage?.write(stream, chunk);
        return (stream === "stdout" && defaults.printReport === undefined ? output : errors).write(chunk);
      },
      wantsResult: resultsFile !== undefined,
      wantsTrace: outputFile !== undefined,
    },
    signal: stop.signal,
    atEnd: async (outcome, container) => {
      if (!hasShell || terms?.isRetried(outcome, attempt) === true) return;
      const { FailureShells } = await import("../failure-shell/failure-shells.ts");
      await new FailureShells().open({ job, outcome, container }, stop.signal);
    },
  });
}

function hasFailed({ status }: Outcome): boolean {
  return status !== "success" && status !== "cancelled" && status !== "skipped";
}

function reasonOf({ status, error }: Outcome): string {
  return error?.message ?? `The job ended: ${status}`;
}

/** A job with the fields that the flags give. */
export function withFlags(
  options: Pick<RunOptions, "mask" | "maskVariable"> & Parameters<typeof givenByFlags>[0],
  job: CommandJob,
): Job {
  const given = givenByFlags(options);
  const { maskedValues, ...marked } = markVariables(
    { vars: job.vars, env: job.env, offeredEnv: given.offeredEnv },
    options.maskVariable,
  );
  return { ...job, ...given, ...marked, maskedValues: [...options.mask, ...maskedValues] };
}

function report(options: RunOptions, result: JobRun, outputFile: string | undefined): void {
  const { outcome } = result;
  if (outcome.status !== "success") complain(reasonOf(outcome));
  if (result.unmaskable > 0)
    complain(
      result.unmaskable === 1
        ? "A value is too short to be masked"
        : `${result.unmaskable} values are too short to be masked`,
    );
  if (result.partlyEncoded > 0)
    complain(`The job has so many secrets that not all encodings of ${result.partlyEncoded} of them were masked`);
  if (outputFile !== undefined && !options.quiet) void errors.writeLines(`Trace: ${outputFile}\n`);
}
