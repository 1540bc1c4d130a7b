import type { Engine, EngineOptions, RunHooks } from "@steps/engine";
import { exitCodeOf, isStepsError, messageOf } from "@steps/model";
import type { Log } from "@steps/model/operation";
import { createMasker } from "@steps/trace/mask";
import { basename, join } from "node:path";
import type { EngineJob } from "./engine-job.ts";
import { engineDirectory, removeTree, runOf, VARIABLES_FOLDER } from "./job-folder.ts";
import { LogSections } from "./log-sections.ts";
import { RunnerLines } from "./runner-lines.ts";
import type { JobEnd, TableJob } from "./table-job.ts";

export interface RunTableJobOptions {
  readonly engine: Omit<EngineOptions, "stateDir">;
  /** Returns the time in microseconds since 1970. */
  readonly clock: () => number;
  readonly maxLogBytes: number;
  readonly log: Log;
}

/** Runs a job to its end, whatever happens. */
export async function runTableJob(job: TableJob, engineJob: EngineJob, options: RunTableJobOptions): Promise<void> {
  const lines = new RunnerLines(job.folder, job.log, options.clock);
  const end = await runEngine(job, engineJob, { ...options, lines });
  // Nobody is left who could read them.
  removeTree(join(job.folder, VARIABLES_FOLDER));
  const failure = job.finish(end);
  if (failure !== undefined)
    options.log("error", "Cannot write how a job ended", { job: job.id, reason: messageOf(failure) });
}

async function runEngine(
  job: TableJob,
  engineJob: EngineJob,
  options: RunTableJobOptions & { readonly lines: RunnerLines },
): Promise<JobEnd> {
  let engine: Engine | undefined;
  try {
    // A service that runs nothing does not hold the engine in memory.
    const { createEngine } = await import("@steps/engine");
    engine = createEngine({ ...options.engine, stateDir: engineDirectory(job.folder) });
    const marks = new LogSections(maskedHeads(engineJob), options.lines);
    const result = await engine.run(engineJob.options, hooksOf(job, { ...options, marks }), job.signals.cancelled);
    const { status, error } = result.outcome;
    const { exitCode, journalRoot } = result;
    return { status, exitCode, journalRoot, error };
  } catch (cause) {
    const error = {
      code: isStepsError(cause) ? cause.code : "INTERNAL",
      message: maskOf(engineJob)(messageOf(cause)),
    };
    options.lines.tryWrite(`The service cannot run the job: ${error.message}`);
    return { status: "error", exitCode: exitCodeOf({ status: "error", error }), error };
  } finally {
    if (engine !== undefined) await close(engine, job, options.log);
  }
}

function maskOf({ maskedValues, options }: EngineJob): (text: string) => string {
  const masker = createMasker({ masksTokens: true, tokenPrefixes: options.tokenPrefixes ?? [] });
  try {
    for (const value of maskedValues) masker.add(value);
  } catch (failure) {
    // They are too many: this is why the job cannot be run.
    return () => messageOf(failure);
  }
  return (text) => masker.text(text);
}

// A mark has the name of its section in clear, so that one with a secret in its name has no mark.
function maskedHeads(engineJob: EngineJob): EngineJob["sections"] {
  const { sections } = engineJob;
  const entries = Object.entries(sections);
  if (entries.length === 0) return {};
  const mask = maskOf(engineJob);
  return Object.fromEntries(entries.flatMap(([name, head]) => (mask(name) === name ? [[name, mask(head)]] : [])));
}

async function close(engine: Engine, { id }: TableJob, log: Log): Promise<void> {
  try {
    await engine[Symbol.asyncDispose]();
  } catch (cause) {
    // A job that came to its end is not worse for it.
    log("error", "Cannot close the engine of a job", { job: id, reason: messageOf(cause) });
  }
}

interface HookOptions extends RunTableJobOptions {
  readonly lines: RunnerLines;
  readonly marks: LogSections;
}

function hooksOf(job: TableJob, options: HookOptions): RunHooks {
  const { log, folder, results } = job;
  const { clock, maxLogBytes, lines, marks } = options;
  let prefix: string | undefined;
  let isFull = false;
  return {
    wantsTrace: false,
    onEvent: (event) => {
      results.apply(event);
      if (event.type === "note" && (event.level === "warning" || event.level === "error"))
        lines.tryWrite(event.message);
      marks.apply(event);
    },
    onOutput: (stream, chunk, _stepPath, { file, offset, bytes }) => {
      prefix ??= runPrefix(folder);
      log.append({ timeUs: clock(), path: join(prefix, file), offset, bytes, stream });
      lines.note(chunk.subarray(0, bytes));
      if (bytes === chunk.length || isFull) return;
      isFull = true;
      lines.tryWrite(`The job's log has reached its limit of ${maxLogBytes} bytes: what comes is not stored`);
    },
  };
}

function runPrefix(folder: string): string {
  const run = runOf(folder);
  return join(basename(engineDirectory(folder)), "runs", basename(run?.path ?? ""));
}
