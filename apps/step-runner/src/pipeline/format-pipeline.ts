import { printable } from "@steps/model/diagnostic";
import { formatDuration } from "@steps/trace";
import { alignColumns, escapeCell, firstLine } from "./columns.ts";
import type { PipelineRow } from "./pipeline-rows.ts";

const SHOWN: Readonly<Record<PipelineRow["result"], string>> = {
  success: "passed",
  failure: "failed",
  "allowed-failure": "failed, allowed",
  cancelled: "cancelled",
  skipped: "skipped",
};

/** The table at the end of a pipeline: job, result, time, and the reason where there is one. */
export function formatTable(rows: readonly PipelineRow[]): string {
  const cells = rows.map(({ job, result, durationMs, attempts, reason }) => [
    printable(job),
    shownResult({ result, attempts }),
    durationMs === undefined ? "" : formatDuration(durationMs),
    printable(firstLine(reason ?? "")),
  ]);
  return alignColumns(cells);
}

function shownResult({ result, attempts }: Pick<PipelineRow, "result" | "attempts">): string {
  return attempts === undefined ? SHOWN[result] : `${SHOWN[result]} (${attempts} attempts)`;
}

/** The report of a pipeline for programs: `{result, jobs: [{job, result, durationMs, attempts, reason}]}`. */
export function formatJson(rows: readonly PipelineRow[], result: string): string {
  return `${JSON.stringify({ result, jobs: rows }, undefined, 2)}\n`;
}

/** The same as a table in Markdown. */
export function formatMarkdown(rows: readonly PipelineRow[]): string {
  const lines = rows.map(
    ({ job, result, durationMs, attempts, reason = "" }) =>
      `| ${[job, shownResult({ result, attempts }), durationMs === undefined ? "" : formatDuration(durationMs), reason].map(escapeCell).join(" | ")} |`,
  );
  return `| job | result | time | reason |\n| --- | --- | --- | --- |\n${lines.join("\n")}\n`;
}

/** The same in the form of JUnit, where each instance is a test case. */
export function formatJunit(rows: readonly PipelineRow[], name: string): string {
  const count = (result: PipelineRow["result"]): number => rows.filter((row) => row.result === result).length;
  const cases = rows.map(({ job, result, durationMs = 0, reason = "" }) => {
    const start = `  <testcase name="${escapeXml(job)}" time="${(durationMs / 1000).toFixed(3)}"`;
    const message = `message="${escapeXml(firstLine(reason))}"`;
    if (result === "failure") return `${start}><failure ${message}/></testcase>`;
    return result === "skipped" || result === "cancelled" ? `${start}><skipped ${message}/></testcase>` : `${start}/>`;
  });
  const counts = `tests="${rows.length}" failures="${count("failure")}" skipped="${count("skipped") + count("cancelled")}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="${escapeXml(name)}" ${counts}>\n${cases.join("\n")}\n</testsuite>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };

// Control characters are not allowed in XML, not even as entities.
function escapeXml(text: string): string {
  return text
    .replaceAll(/[<>&"]/g, (sign) => ENTITIES[sign] ?? "")
    .replaceAll(/[\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]/g, "\uFFFD");
}
