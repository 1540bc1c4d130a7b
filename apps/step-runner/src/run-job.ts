import { assertWritable, type CommandLine, complain, errors, hurryOutput, output } from "@steps/console";
import { type Engine, markVariables, type RunRequest, type RunResult } from "@steps/engine";
import { githubOptions } from "./github-flags.ts";
import { givenByFlags } from "./job-flags.ts";
import { openEngine } from "./open-engine.ts";
import { Progress } from "./progress.ts";
import { StopSignals } from "./signals.ts";
import { resultsPath, writeResults } from "./write-results.ts";
import { writeTrace } from "./write-trace.ts";

/** What a timer of Node can hold; a longer one would fire at once. */
export const MAX_TIMER_MS: number = 2_147_483_647;

/** A job as a command knows it; what the flags of `runFlags` say is added here. */
export type JobRequest = Pick<
  RunRequest,
  "entry" | "source" | "specDefinition" | "positionOf" | "inputs" | "vars" | "env" | "jobName" | "workDir" | "baseDir"
>;

/** A job, or what finds it out once there is an engine. */
export type JobSource = JobRequest | ((engine: Engine, signal: AbortSignal) => Promise<JobRequest>);

/** Runs a job, shows it, writes what was asked for, and gives the exit code. */
export async function runJob(
  line: CommandLine,
  job: JobSource,
  defaults: { readonly outputFile?: string } = {},
): Promise<number> {
  using stop = new StopSignals();
  const progress = new Progress(line.boolean("quiet"));
  const wantsResult = line.boolean("write-steps-results") || line.string("step-results-file") !== undefined;
  const timeoutMs = line.number("timeout");
  if (timeoutMs !== undefined) setTimeout(hurryOutput, Math.min(timeoutMs, MAX_TIMER_MS)).unref();
  const outputFile = line.string("output-file") ?? defaults.outputFile;
  const resultsFile = wantsResult ? resultsPath(line) : undefined;
  for (const path of [outputFile, resultsFile]) if (path !== undefined) assertWritable(path);
  await using engine = openEngine(line, { excluded: [outputFile, resultsFile] });
  const result = await engine.run(
    { ...withFlags(line, typeof job === "function" ? await job(engine, stop.signal) : job), hurry: stop.hurry },
    {
      onEvent: progress.onEvent,
      onProgress: progress.onProgress,
      onOutput: (stream, chunk) => (stream === "stdout" ? output : errors).write(chunk),
      wantsResult,
      wantsTrace: outputFile !== undefined,
    },
    stop.signal,
  );
  if (outputFile !== undefined) writeTrace(outputFile, result.trace());
  if (wantsResult && result.result !== undefined) await writeResults(line, result.result);
  report(line, result, outputFile);
  return result.exitCode;
}

function withFlags(line: CommandLine, job: JobRequest): RunRequest {
  const given = givenByFlags(line);
  const named = line.list("mask-variable").flatMap((names) => names.split(","));
  const variables = { vars: job.vars ?? {}, env: job.env, offeredEnv: given.offeredEnv ?? {} };
  const { secrets, ...marked } = markVariables(variables, named);
  const timeoutMs = line.number("timeout");
  const graceMs = line.number("grace");
  return {
    ...job,
    ...given,
    ...marked,
    github: githubOptions(line),
    secrets: [...line.list("mask"), ...secrets],
    isLenient: line.boolean("lenient"),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(graceMs === undefined ? {} : { graceMs }),
  };
}

function report(line: CommandLine, result: RunResult, outputFile: string | undefined): void {
  const { outcome } = result;
  if (outcome.status !== "success") complain(outcome.error?.message ?? `The job ended: ${outcome.status}`);
  if (result.unmaskable > 0)
    complain(
      result.unmaskable === 1
        ? "A value is too short to be masked"
        : `${result.unmaskable} values are too short to be masked`,
    );
  if (outputFile !== undefined && !line.boolean("quiet")) void errors.write(Buffer.from(`Trace: ${outputFile}\n`));
}
