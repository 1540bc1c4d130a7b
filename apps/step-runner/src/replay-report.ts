import type { Terminal } from "@steps/console";
import type { ReplayReport } from "@steps/engine";

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

/** The report for people: the verdict, and each difference with what was expected and what was found. */
export function formatReplayReport(report: ReplayReport, terminal: Terminal): string {
  const rows = [
    terminal.bold(`Replay: ${HEADLINES[report.verdict]}`),
    ...report.reasons.map((reason) => `  ${reason}`),
  ];
  for (const difference of report.comparison?.differences ?? []) {
    const step = difference.step === "" ? "job" : `step "${difference.step}"`;
    rows.push(
      `  ${difference.severity}: ${step} ${difference.pointer}${difference.cause === undefined ? "" : ` (${difference.cause})`}`,
    );
    rows.push(`    expected ${difference.expected}`, `    actual   ${difference.actual}`);
  }
  return `${rows.join("\n")}\n`;
}

/** The report for machines. */
export function replayReportJson(report: ReplayReport): unknown {
  return {
    verdict: report.verdict,
    exitCode: report.exitCode,
    reasons: report.reasons,
    traceId: report.traceId,
    replayTraceId: report.replay?.directory.traceId,
    comparison: report.comparison?.verdict,
    steps: report.comparison?.steps,
    differences: report.comparison?.differences ?? [],
  };
}
