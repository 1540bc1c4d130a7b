import { print } from "@steps/console/terminal";
import { formatJson, formatJunit, formatMarkdown } from "./format-pipeline.ts";
import type { PipelineRow } from "./pipeline-rows.ts";

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
