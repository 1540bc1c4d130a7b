import { printable } from "@steps/model/diagnostic";
import { formatDuration } from "@steps/trace";
import { formatCoverage } from "./format-coverage.ts";
import { alignColumns, escapeCell, firstLine } from "./columns.ts";
import type { PipelineRow } from "./pipeline-rows.ts";

const SHOWN: Readonly<Record<PipelineRow["result"], string>> = {
  success: "passed",
  failure: "failed",
  "allowed-failure": "failed, allowed",
  cancelled: "cancelled",
  skipped: "skipped",
};

/** The table at the end of a pipeline: job, stage, result, time, coverage, and the reason, each where there is one. */
export function formatTable(rows: readonly PipelineRow[]): string {
  const cells = rows.map(({ job, stage, result, durationMs, attempts, coverage, reason }) => [
    printable(job),
    printable(stage ?? ""),
    shownResult({ result, attempts }),
    durationMs === undefined ? "" : formatDuration(durationMs),
    shownCoverage(coverage),
    printable(firstLine(reason ?? "")),
  ]);
  return alignColumns(cells);
}

function shownResult({ result, attempts }: Pick<PipelineRow, "result" | "attempts">): string {
  return attempts === undefined ? SHOWN[result] : `${SHOWN[result]} (${attempts} attempts)`;
}

/** The report of a pipeline for programs: `{result, jobs: [{job, stage, result, durationMs, attempts, coverage, reason}]}`. */
export function formatJson(rows: readonly PipelineRow[], result: string): string {
  return `${JSON.stringify({ result, jobs: rows }, undefined, 2)}\n`;
}

/** The same as a table in Markdown. Columns for the stage and the coverage are there where a job has one. */
export function formatMarkdown(rows: readonly PipelineRow[]): string {
  const hasCoverage = rows.some(({ coverage }) => coverage !== undefined);
  const hasStage = rows.some(({ stage }) => stage !== undefined);
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  const chosen = ([job = "", stage = "", result = "", time = "", coverage = "", reason = ""]: readonly string[]) => [
    job,
    ...(hasStage ? [stage] : []),
    result,
    time,
    ...(hasCoverage ? [coverage] : []),
    reason,
  ];
  const head = chosen(["job", "stage", "result", "time", "coverage", "reason"]);
  const lines = rows.map(({ job, stage = "", result, durationMs, attempts, coverage, reason = "" }) => {
    const time = durationMs === undefined ? "" : formatDuration(durationMs);
    const cells = [job, stage, shownResult({ result, attempts }), time, shownCoverage(coverage), reason];
    return line(chosen(cells).map(escapeCell));
  });
  return [line(head), line(head.map(() => "---")), ...lines].join("");
}

function shownCoverage(coverage: number | undefined): string {
  return coverage === undefined ? "" : formatCoverage(coverage);
}

/** The same in the form of JUnit, where each instance is a test case. */
export function formatJunit(rows: readonly PipelineRow[], name: string): string {
  const count = (result: PipelineRow["result"]): number => rows.filter((row) => row.result === result).length;
  const cases = rows.map(({ job, result, durationMs = 0, coverage, reason = "" }) => {
    const start = `  <testcase name="${escapeXml(job)}" time="${(durationMs / 1000).toFixed(3)}"`;
    const message = `message="${escapeXml(firstLine(reason))}"`;
    const inside = [
      ...(coverage === undefined ? [] : [`<properties><property name="coverage" value="${coverage}"/></properties>`]),
      ...(result === "failure" ? [`<failure ${message}/>`] : []),
      ...(result === "skipped" || result === "cancelled" ? [`<skipped ${message}/>`] : []),
    ].join("");
    return inside === "" ? `${start}/>` : `${start}>${inside}</testcase>`;
  });
  const counts = `tests="${rows.length}" failures="${count("failure")}" skipped="${count("skipped") + count("cancelled")}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="${escapeXml(name)}" ${counts}>\n${cases.join("\n")}\n</testsuite>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };

/** Text for an element or an attribute of XML. Control characters are not allowed there, not even as entities. */
export function escapeXml(text: string): string {
  return text
    .replaceAll(/[<>&"]/g, (sign) => ENTITIES[sign] ?? "")
    .replaceAll(/[\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]/g, "\uFFFD");
}
