import { toJson } from "@bufbuild/protobuf";
import type { FollowOptions, JobOutcome } from "@steps/client";
import { assertWritable, complain, errors, output, writeWhole, StopSignals } from "@steps/console/terminal";
import { RunStatus, StepResultSchema } from "@steps/proto";
import { type FollowFlagOptions, windowsOf } from "./follow-flags.ts";
import { explainFailure, type Known } from "./explain-failure.ts";
import { removeRecord } from "./job-records.ts";
import { stateReporter } from "./report-state.ts";

/** Follows a job to its end with these options. */
export type Follow = (options: FollowOptions) => Promise<JobOutcome>;

export interface Shown {
  readonly token: string | undefined;
  readonly record: Known;
  readonly keep: boolean;
  /** Said when a signal ends the command only and leaves the job alone. Absent: a signal cancels the job. */
  readonly whenDetached?: string;
}

/** Prints a job's output as it comes, writes what was asked for, and gives the exit code. */
export async function showJob(options: FollowFlagOptions, shown: Shown, follow: Follow): Promise<number> {
  using stop = new StopSignals();
  const { outputFile: traceFile, stepResultsFile: resultsFile } = options;
  for (const path of [traceFile, resultsFile]) if (path !== undefined) assertWritable(path);
  const report = stateReporter({ isVerbose: options.verbose, isQuiet: options.quiet });
  const { whenDetached } = shown;
  const detaches = whenDetached !== undefined;
  let isStarted = false;
  // Nothing is left to be done but to go.
  if (detaches) stop.hurry.addEventListener("abort", () => process.exit(stop.exitCode));
  try {
    const outcome = await follow({
      token: shown.token,
      ...windowsOf(options),
      ...(detaches ? { detach: stop.signal } : { signal: stop.signal, hurry: stop.hurry }),
      keep: shown.keep,
      wantsTrace: traceFile !== undefined,
      wantsResult: resultsFile !== undefined,
      onOutput: (stream, bytes) => (stream === "stdout" ? output : errors).write(bytes),
      onState: (state) => {
        report(state);
        isStarted ||= state.type === "started";
        if (state.type === "closed") removeRecord(shown.record);
      },
    });
    if (traceFile !== undefined && outcome.trace !== undefined)
      writeWhole(traceFile, Buffer.from(outcome.trace).toString());
    if (resultsFile !== undefined && outcome.result !== undefined)
      writeWhole(resultsFile, `${JSON.stringify(toJson(StepResultSchema, outcome.result), null, 2)}\n`);
    return conclude(outcome, stop);
  } catch (error) {
    return explainFailure(error, { record: shown.record, isStarted, exitCode: stop.exitCode, whenDetached });
  }
}

function conclude({ job, exitCode }: JobOutcome, stop: StopSignals): number {
  const isCancelled = job.runStatus === RunStatus.cancelled;
  if (exitCode !== 0 || isCancelled) complain(job.error?.message ?? `The job ended with exit code ${exitCode}`);
  // Whoever pressed Ctrl-C expects the exit code of that, whatever signal the service ended the processes with.
  return isCancelled ? (stop.exitCode ?? exitCode) : exitCode;
}
