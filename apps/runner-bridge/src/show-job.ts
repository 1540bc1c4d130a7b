import { toJson } from "@bufbuild/protobuf";
import { ClientError, type FollowOptions, type JobOutcome } from "@steps/client";
import { assertWritable, type CommandLine, complain, errors, output, writeWhole } from "@steps/console";
import { isStepsError } from "@steps/model";
import { RunStatus, StepResultSchema } from "@steps/proto";
import { windowsOf } from "./follow-flags.ts";
import { type JobRecord, removeRecord } from "./job-records.ts";
import { stateReporter } from "./report-state.ts";
import { StopSignals } from "./signals.ts";

/** Follows a job to its end with these options. */
export type Follow = (options: FollowOptions) => Promise<JobOutcome>;

export interface Shown {
  readonly token: string | undefined;
  /** Forgotten once the service has forgotten the job. */
  readonly record: Pick<JobRecord, "id" | "target">;
  readonly keep: boolean;
}

/** Prints a job's output as it comes, writes what was asked for, and gives the exit code. */
export async function showJob(line: CommandLine, shown: Shown, follow: Follow): Promise<number> {
  using stop = new StopSignals();
  const traceFile = line.string("output-file");
  const resultsFile = line.string("step-results-file");
  for (const path of [traceFile, resultsFile]) if (path !== undefined) assertWritable(path);
  const report = stateReporter({ isVerbose: line.boolean("verbose"), isQuiet: line.boolean("quiet") });
  try {
    const outcome = await follow({
      ...(shown.token === undefined ? {} : { token: shown.token }),
      ...windowsOf(line),
      signal: stop.signal,
      hurry: stop.hurry,
      keep: shown.keep,
      wantsTrace: traceFile !== undefined,
      wantsResult: resultsFile !== undefined,
      onOutput: (stream, bytes) => (stream === "stdout" ? output : errors).write(bytes),
      onState: (state) => {
        report(state);
        if (state.type === "closed") removeRecord(shown.record);
      },
    });
    if (traceFile !== undefined && outcome.trace !== undefined)
      writeWhole(traceFile, Buffer.from(outcome.trace).toString());
    if (resultsFile !== undefined && outcome.result !== undefined)
      writeWhole(resultsFile, `${JSON.stringify(toJson(StepResultSchema, outcome.result), null, 2)}\n`);
    return conclude(outcome, stop);
  } catch (error) {
    return explain(error, shown, stop);
  }
}

function conclude({ job, exitCode }: JobOutcome, stop: StopSignals): number {
  const isCancelled = job.runStatus === RunStatus.cancelled;
  if (exitCode !== 0 || isCancelled) complain(job.error?.message ?? `The job ended with exit code ${exitCode}`);
  // Who pressed Ctrl-C is told so; what the service ended its processes with is its own affair.
  return isCancelled ? (stop.exitCode ?? exitCode) : exitCode;
}

function explain(error: unknown, { record }: Shown, stop: StopSignals): number {
  if (!isStepsError(error)) throw error;
  if (error.code === "JOB_LOST") removeRecord(record);
  if (error.code === "REQUEST_INVALID") {
    // Diagnostics have their own form.
    void errors.write(Buffer.from(`${error.message}\n`));
    return 2;
  }
  if (stop.exitCode !== undefined && error instanceof ClientError && STOPPED.has(error.code)) {
    complain(error.message);
    return stop.exitCode;
  }
  throw error;
}

const STOPPED: ReadonlySet<string> = new Set(["CANCELLED", "ABANDONED"]);
