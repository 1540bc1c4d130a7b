import type { Terminal } from "@steps/console/terminal";
import type { ReplayReport } from "@steps/engine";
import type { Difference } from "@steps/trace/compare";

const HEADLINES: Readonly<Record<ReplayReport["verdict"], string>> = {
  same: "The same",
  different: "Different",
  "component-mismatch": "Not run: a component is not what the trace names",
  "component-unavailable": "Not run: a component cannot be had",
  "missing-secret": "Not run: values are missing",
  "trace-invalid": "Not run: the trace was changed",
  "runtime-drift": "The same result, but not the same logs, tools or machine",
  cancelled: "Cancelled",
  error: "Failed",
};

/** A verdict in words. */
export function headlineOf(verdict: ReplayReport["verdict"]): string {
  return HEADLINES[verdict];
}

/** The report for people: the verdict, and each difference with what was expected and what was found. `job`: the job's name. */
export function formatReplayReport(
  report: ReplayReport,
  { terminal, job }: { readonly terminal: Terminal; readonly job?: string },
): string {
  const rows = [
    terminal.bold(`Replay${job === undefined ? "" : ` of ${job}`}: ${headlineOf(report.verdict)}`),
    ...report.reasons.map((reason) => `  ${reason}`),
    ...describeEnds(report).map((end) => `  ${end}`),
  ];
  rows.push(...differenceRows(report.comparison?.differences ?? []));
  return `${rows.join("\n")}\n`;
}

/** Differences in words: each with what was expected and what was found. */
export function differenceRows(differences: readonly Difference[]): string[] {
  return differences.flatMap(({ step, severity, pointer, cause, expected, actual }) => [
    `  ${severity}: ${step === "" ? "job" : `step "${step}"`} ${pointer}${cause === undefined ? "" : ` (${cause})`}`,
    `    expected ${expected}`,
    `    actual   ${actual}`,
  ]);
}

// When both runs failed the comparison says that they are the same, but that is no success.
function describeEnds({ comparison, recordedStatus, replay }: ReplayReport): string[] {
  if (comparison === undefined || replay === undefined || recordedStatus === undefined) return [];
  const { status, error } = replay.outcome;
  if (recordedStatus === "success" && status === "success") return [];
  const message = error === undefined ? "" : `: ${error.message}`;
  if (recordedStatus !== status)
    return [`The job ended with ${recordedStatus} in the trace and with ${status} in the replay${message}`];
  const ended = status === "failure" ? "The job failed" : `The job ended with ${status}`;
  return [`${ended} in the trace, and in the replay too${message}`];
}

/** The report for machines. */
export function replayReportJson(report: ReplayReport): Readonly<Record<string, unknown>> {
  return {
    verdict: report.verdict,
    exitCode: report.exitCode,
    reasons: report.reasons,
    traceId: report.traceId,
    replayTraceId: report.replay?.directory.traceId,
    recordedStatus: report.recordedStatus,
    replayStatus: report.replay?.outcome.status,
    comparison: report.comparison?.verdict,
    steps: report.comparison?.steps,
    differences: report.comparison?.differences ?? [],
  };
}
