import { print } from "@steps/console/terminal";
import type { ReportedRun } from "../run/run-job.ts";
import { formatJson, formatJunit, formatMarkdown } from "./print/format-pipeline.ts";
import type { PipelineRow } from "./print/pipeline-rows.ts";
import { jobResultOf } from "./run-engine-job.ts";

/** The form of a report. */
export type ReportKind = "json" | "junit" | "markdown";

/** Prints a report of jobs on standard output. @param path the file that they are of, as it was named */
export function printReport(
  kind: ReportKind,
  rows: readonly PipelineRow[],
  { result, path }: { readonly result: string; readonly path: string },
): Promise<void> {
  if (kind === "junit") return print(formatJunit(rows, path));
  return print(kind === "json" ? formatJson(rows, result) : formatMarkdown(rows));
}

/** Gives a function that prints the same of one job when it has ended. `undefined` where no report is wanted. */
export function reportOfJob(
  kind: ReportKind | undefined,
  { job, path }: { readonly job: string; readonly path: string },
): ((ended: ReportedRun) => Promise<void>) | undefined {
  if (kind === undefined) return undefined;
  return async ({ run, durationMs, attempts, isAllowedToFail, coverage }) => {
    const { status, reason } = jobResultOf(run);
    const row = {
      job,
      result: isAllowedToFail ? ("allowed-failure" as const) : status,
      durationMs: Math.round(durationMs),
      attempts: attempts > 1 ? attempts : undefined,
      reason,
      coverage,
    };
    await printReport(kind, [row], { result: isAllowedToFail ? "success" : status, path });
  };
}
