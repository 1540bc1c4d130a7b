import type { Terminal } from "@steps/console/terminal";
import { printable } from "@steps/model/diagnostic";
import type { PipelineReplay } from "./replay-pipeline.ts";
import { formatReplayReport, headlineOf, replayReportJson } from "./replay-report.ts";

/** The report for people: that of each job, the jobs that did not run, and the verdict of the whole. */
export function formatPipelineReport(replay: PipelineReplay, terminal: Terminal): string {
  const { verdict, reasons, jobs, skipped } = replay;
  const parts = jobs.map(({ name, report }) =>
    report === undefined
      ? `Replay of ${printable(name)}: Not run\n`
      : formatReplayReport(report, { terminal, job: printable(name) }),
  );
  const same = jobs.filter(({ report }) => report?.verdict === "same").length;
  return [
    ...parts,
    ...skipped.map((name) => `Replay of ${printable(name)}: Skipped, as in the trace\n`),
    terminal.bold(`Replay of the pipeline: ${headlineOf(verdict)}`),
    `\n  ${same} of ${jobs.length} ${jobs.length === 1 ? "job is" : "jobs are"} the same\n`,
    ...reasons.map((reason) => `  ${printable(reason)}\n`),
  ].join("");
}

/** The report for machines: members as in the report of one job, and the reports of the jobs. */
export function pipelineReportJson(replay: PipelineReplay): unknown {
  const { verdict, exitCode, reasons, traceId, jobs, skipped } = replay;
  return {
    verdict,
    exitCode,
    reasons,
    traceId,
    jobs: jobs.map(({ name, report }) => ({ name, ...(report && replayReportJson(report)) })),
    skipped,
  };
}
