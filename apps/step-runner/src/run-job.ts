import { assertWritable, complain, errors, hurryOutput, output } from "@steps/console/terminal";
import type { Engine } from "@steps/engine";
import { markVariables } from "@steps/engine/environment";
import type { Job } from "@steps/model";
import { type CoverageReader, formatCoverage } from "./coverage.ts";
import { githubOptions } from "./github-flags.ts";
import { givenByFlags } from "./job-flags.ts";
import { hideEnvironment } from "./hide-environment.ts";
import type { JobPlace } from "./job-containers/place-job.ts";
import { type JobRun, runPlacedJob } from "./job-containers/run-placed-job.ts";
import { openEngine } from "./open-engine.ts";
import { Progress } from "./progress.ts";
import type { RunOptions } from "./run-flags.ts";
import { StopSignals } from "./signals.ts";
import { resultsFile as resultsFileOf, writeResults } from "./write-results.ts";
import { writeTrace } from "./write-trace.ts";

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
  /** Where the job runs. Default: on this machine. */
  readonly place?: JobPlace;
  /** Given the output of the job as it is shown; its coverage is told at the end. Default: nothing is looked for. */
  readonly coverage?: CoverageReader | undefined;
}

/** Runs a job, shows it, writes what was asked for, and gives the exit code. */
export async function runJob(options: RunOptions, source: JobSource, defaults: RunDefaults = {}): Promise<number> {
  hideEnvironment();
  using stop = new StopSignals();
  const progress = new Progress(options.quiet);
  const timeoutMs = options.timeout;
  if (timeoutMs !== undefined) setTimeout(hurryOutput, Math.min(timeoutMs, MAX_TIMER_MS)).unref();
  const outputFile = options.outputFile ?? defaults.outputFile;
  const resultsFile = resultsFileOf(options);
  for (const path of [outputFile, resultsFile]) if (path !== undefined) assertWritable(path);
  await using engine = openEngine(options, { excluded: [outputFile, resultsFile] });
  const job = typeof source === "function" ? await source(engine, stop.signal) : source;
  const result = await runPlacedJob(engine, options, {
    place: defaults.place,
    isPrivate: job.workspace !== undefined,
    options: {
      job: withFlags(options, job),
      github: githubOptions(options),
      isLenient: options.lenient,
      timeoutMs: timeoutMs ?? defaults.timeoutMs,
      graceMs: options.grace,
      hurry: stop.hurry,
    },
    hooks: {
      onEvent: progress.onEvent,
      onProgress: progress.onProgress,
      onStep: progress.onStep,
      onOutput: (stream, chunk) => {
        defaults.coverage?.write(stream, chunk);
        return (stream === "stdout" ? output : errors).write(chunk);
      },
      wantsResult: resultsFile !== undefined,
      wantsTrace: outputFile !== undefined,
    },
    signal: stop.signal,
  });
  if (outputFile !== undefined) writeTrace(outputFile, result.trace());
  if (resultsFile !== undefined && result.result !== undefined)
    await writeResults(resultsFile, options.stepResultsFormat, result.result);
  report(options, result, outputFile);
  const coverage = defaults.coverage?.end();
  if (coverage !== undefined && !options.quiet) void errors.writeLines(`Coverage: ${formatCoverage(coverage)}\n`);
  return result.exitCode;
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
  if (outcome.status !== "success") complain(outcome.error?.message ?? `The job ended: ${outcome.status}`);
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
