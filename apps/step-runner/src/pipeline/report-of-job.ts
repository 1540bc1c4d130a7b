import { printReport, type ReportKind } from "@steps/pipeline-view";
import type { ReportedRun } from "../run/run-job.ts";
import { jobResultOf } from "./run-engine-job.ts";

/** Gives a function that prints a report of one job when it has ended, in the form of that of a pipeline. */
export function reportOfJob(
  kind: ReportKind,
  { job, stage, path }: { readonly job: string; readonly stage?: string | undefined; readonly path: string },
): (ended: ReportedRun) => Promise<void> {
  return async ({ run, durationMs, attempts, isAllowedToFail, coverage }) => {
    const { status, reason } = jobResultOf(run);
    const row = {
      job,
      stage,
      result: isAllowedToFail ? ("allowed-failure" as const) : status,
      durationMs: Math.round(durationMs),
      attempts: attempts > 1 ? attempts : undefined,
      reason,
      coverage,
    };
    await printReport(kind, [row], { result: isAllowedToFail ? "success" : status, path });
  };
}
