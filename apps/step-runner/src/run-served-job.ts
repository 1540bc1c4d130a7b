import { randomUUID } from "node:crypto";
import { assertWritable, type CommandLine, complain, errors, hurryOutput, output } from "@steps/console";
import { type Cancelled, secretVariableNames } from "@steps/engine";
import { mapObject, revealString, sha256 } from "@steps/model";
import type { Job, JobSpec } from "@steps/service";
import { givenByFlags } from "./job-flags.ts";
import { type JobRequest, MAX_TIMER_MS } from "./run-job.ts";
import { aborted, StopSignals } from "./signals.ts";
import { type RunningService, startService } from "./start-service.ts";
import { resultsPath, writeResults } from "./write-results.ts";
import { writeTrace } from "./write-trace.ts";

const DRAIN_MS = 10_000;

/** A job that a command runs where others may follow it. */
export interface ServedJob {
  readonly id: string;
  readonly request: Pick<JobRequest, "source" | "specDefinition" | "positionOf" | "jobName" | "workDir"> & {
    readonly vars: Readonly<Record<string, string>>;
  };
  /** Where the trace goes unless the flags say otherwise. */
  readonly outputFile?: string;
}

/** Serves on a port until a signal; with a job, runs it there, shows it, and serves until those who follow it have all of it. */
export async function serveJob(line: CommandLine, port: number, job?: ServedJob): Promise<number> {
  using stop = new StopSignals();
  const files = filesOf(line, job);
  for (const path of [files.trace, files.result]) if (path !== undefined) assertWritable(path);
  const service = await startService(line, { port });
  try {
    service.announce();
    if (job === undefined) {
      await aborted(stop.signal);
      return 0;
    }
    const exitCode = await runServed(line, service, { job, files, stop });
    await Promise.race([service.drain(DRAIN_MS), aborted(stop.signal)]);
    // Nobody can ask for it any more, and its log may be large.
    await service.jobs.close(job.id);
    return exitCode;
  } finally {
    await service.stop(stop.hurry);
  }
}

type Files = { readonly trace: string | undefined; readonly result: string | undefined };

function filesOf(line: CommandLine, job: ServedJob | undefined): Files {
  const wantsResult = line.boolean("write-steps-results") || line.string("step-results-file") !== undefined;
  return {
    trace: line.string("output-file") ?? job?.outputFile,
    result: wantsResult ? resultsPath(line) : undefined,
  };
}

async function runServed(
  line: CommandLine,
  service: RunningService,
  { job, files, stop }: { readonly job: ServedJob; readonly files: Files; readonly stop: StopSignals },
): Promise<number> {
  const { signal, hurry } = stop;
  const timeoutMs = line.number("timeout");
  // An earlier process may have left one of this name.
  await service.jobs.close(job.id);
  const running = service.jobs.run(specOf(line, job));
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
  await keep(line, running, files);
  const { error, status, exitCode = 1 } = running.info;
  if (status !== "success") complain(error?.message ?? `The job ended: ${status}`);
  return exitCode;
}

function specOf(line: CommandLine, { id, request }: ServedJob): JobSpec {
  const { source, specDefinition, positionOf, jobName, workDir, vars } = request;
  const masked = new Set(line.list("mask-variable").flatMap((names) => names.split(",")));
  const fromEnvironment = [...masked].flatMap((name) => process.env[name] ?? []);
  const timeoutMs = line.number("timeout");
  const graceMs = line.number("grace");
  return {
    id,
    // Every call of the command is a job of its own, also one with the same steps.
    requestDigest: sha256(randomUUID()),
    isStrict: true,
    source,
    specDefinition,
    inputs: {},
    variables: Object.entries(vars).map(([key, value]) => ({
      key,
      value,
      isFile: false,
      isMasked: masked.has(key) || secretVariableNames([key]).length > 0,
    })),
    env: line.boolean("job-env") ? vars : {},
    ...plainGiven(line),
    secrets: [...line.list("mask"), ...fromEnvironment],
    workDir,
    ...(positionOf === undefined ? {} : { positionOf }),
    ...(jobName === undefined ? {} : { jobName }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(graceMs === undefined ? {} : { graceMs }),
  };
}

function plainGiven(line: CommandLine): Pick<JobSpec, "grants" | "offeredEnv" | "mode"> {
  const { grants, offeredEnv = {}, mode } = givenByFlags(line);
  return {
    offeredEnv: mapObject(offeredEnv, revealString),
    ...(grants === undefined ? {} : { grants: mapObject(grants, revealString) }),
    ...(mode === undefined ? {} : { mode }),
  };
}

async function show(job: Job): Promise<void> {
  const none = new AbortController().signal;
  for await (const { stream, bytes } of job.readOutput({ stdout: 0, stderr: 0 }, none))
    await (stream === "stdout" ? output : errors).write(bytes);
  await job.ended;
}

async function keep(line: CommandLine, job: Job, files: Files): Promise<void> {
  const trace = files.trace === undefined ? undefined : job.trace();
  if (files.trace !== undefined && trace !== undefined) {
    writeTrace(files.trace, trace);
    if (!line.boolean("quiet")) void errors.write(Buffer.from(`Trace: ${files.trace}\n`));
  }
  if (files.result === undefined) return;
  for await (const { result } of job.readResults(new AbortController().signal)) await writeResults(line, result);
}
