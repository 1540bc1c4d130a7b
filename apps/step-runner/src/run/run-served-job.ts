import { randomUUID } from "node:crypto";
import { assertWritable, complain, errors, hurryOutput, output } from "@steps/console/terminal";
import type { Cancelled } from "@steps/engine";
import { secretVariableNames } from "@steps/engine/environment";
import { MAX_TIMER_MS } from "@steps/model";
import { sha256 } from "@steps/platform";
import type { JobHandle, JobSubmission } from "@steps/service";
import { givenByFlags } from "../flags/job-flags.ts";
import type { CommandJob } from "./command-job.ts";
import { aborted, StopSignals } from "../signals.ts";
import type { RunOptions } from "../flags/run-flags.ts";
import type { PortOptions } from "../flags/serve-flags.ts";
import { type RunningService, startService } from "../service/start-service.ts";
import { resultsFile, writeResults } from "./write-results.ts";
import { writeTrace } from "../traces/write-trace.ts";

const DRAIN_MS = 10_000;

/** A job that a command runs where others may follow it. */
export interface ServedJob {
  readonly id: string;
  readonly job: CommandJob & { readonly vars: Readonly<Record<string, string>> };
  /** The path of the trace unless a flag names one. */
  readonly outputFile?: string;
}

/** Serves on a port until a signal; with a job, runs it there, shows it, and serves until those who follow it have all of it. */
export async function serveJob(options: RunOptions & PortOptions, port: number, job?: ServedJob): Promise<number> {
  using stop = new StopSignals();
  const files = filesOf(options, job);
  for (const path of [files.trace, files.result]) if (path !== undefined) assertWritable(path);
  const service = await startService(options, { port });
  try {
    service.announce();
    if (job === undefined) {
      await aborted(stop.signal);
      return 0;
    }
    const exitCode = await runServed(options, service, { job, files, stop });
    await Promise.race([service.finishCalls(DRAIN_MS), aborted(stop.signal)]);
    // Nobody can ask for it any more, and its log may be large.
    await service.jobs.close(job.id);
    return exitCode;
  } finally {
    await service.stop(stop.hurry);
  }
}

type Files = { readonly trace: string | undefined; readonly result: string | undefined };

function filesOf(options: RunOptions, job: ServedJob | undefined): Files {
  return { trace: options.outputFile ?? job?.outputFile, result: resultsFile(options) };
}

async function runServed(
  options: RunOptions,
  service: RunningService,
  { job, files, stop }: { readonly job: ServedJob; readonly files: Files; readonly stop: StopSignals },
): Promise<number> {
  const { signal, hurry } = stop;
  const timeoutMs = options.timeout;
  // An earlier process may have left one of this name.
  await service.jobs.close(job.id);
  const running = service.jobs.run(submissionOf(options, job));
  const cancel = (): void => running.cancel((signal.reason as Cancelled).signalName);
  const end = (): void => running.hurry();
  signal.addEventListener("abort", cancel);
  hurry.addEventListener("abort", end);
  if (signal.aborted) cancel();
  if (hurry.aborted) end();
  const timer = timeoutMs === undefined ? undefined : setTimeout(hurryOutput, Math.min(timeoutMs, MAX_TIMER_MS));
  try {
    await show(running);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    hurry.removeEventListener("abort", end);
  }
  await keep(options, running, files);
  const { error, status, exitCode = 1 } = running.info;
  if (status !== "success") complain(error?.message ?? `The job ended: ${status}`);
  return exitCode;
}

function submissionOf(options: RunOptions, { id, job }: ServedJob): JobSubmission {
  const { vars, name, source, specDefinition, positionOf, inputs, workDir } = job;
  const masked = new Set(options.maskVariable);
  const fromEnvironment = [...masked].flatMap((variable) => process.env[variable] ?? []);
  return {
    id,
    // Every call of the command is a job of its own, also one with the same steps.
    requestDigest: sha256(randomUUID()),
    refusesOtherRequest: true,
    job: {
      name,
      source,
      specDefinition,
      positionOf,
      inputs,
      env: options.jobEnv ? vars : {},
      ...givenByFlags(options),
      maskedValues: [...options.mask, ...fromEnvironment],
      workDir,
    },
    variables: Object.entries(vars).map(([key, value]) => ({
      key,
      value,
      isFile: false,
      isMasked: masked.has(key) || secretVariableNames([key]).length > 0,
    })),
    timeoutMs: options.timeout,
    graceMs: options.grace,
    isLenient: options.lenient,
  };
}

async function show(job: JobHandle): Promise<void> {
  const none = new AbortController().signal;
  for await (const { stream, bytes } of job.readOutput({ stdout: 0, stderr: 0 }, none))
    await (stream === "stdout" ? output : errors).write(bytes);
  await job.ended;
}

async function keep(options: RunOptions, job: JobHandle, files: Files): Promise<void> {
  const trace = files.trace === undefined ? undefined : job.trace();
  if (files.trace !== undefined && trace !== undefined) {
    writeTrace(files.trace, trace);
    if (!options.quiet) void errors.writeLines(`Trace: ${files.trace}\n`);
  }
  if (files.result === undefined) return;
  for await (const { result } of job.readResults(new AbortController().signal))
    await writeResults(files.result, options.stepResultsFormat, result);
}
