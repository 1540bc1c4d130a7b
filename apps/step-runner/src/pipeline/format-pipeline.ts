import { printable } from "@steps/model/diagnostic";
import { formatDuration } from "@steps/trace";
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
  const cells = rows.map(({ job, result, durationMs, reason }) => [
    printable(job),
    SHOWN[result],
    durationMs === undefined ? "" : formatDuration(durationMs),
    printable(firstLine(reason ?? "")),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

/** The jobs as `--list` shows them: a line for each, with the reason why it would not run, or when that is decided. */
export function formatList(rows: readonly PipelineRow[]): string {
  return rows
    .map(({ job, result, reason }) => {
      const how = result === "success" ? "" : `${SHOWN[result]}: `;
      return printable(reason === undefined ? job : `${job}  (${how}${firstLine(reason)})`);
    })
    .map((line) => `${line}\n`)
    .join("");
}

/** The report of a pipeline for programs: `{result, jobs: [{job, result, durationMs, reason}]}`. */
export function formatJson(rows: readonly PipelineRow[], result: string): string {
  return `${JSON.stringify({ result, jobs: rows }, undefined, 2)}\n`;
}

/** The same as a table in Markdown. */
export function formatMarkdown(rows: readonly PipelineRow[]): string {
  const escape = (text: string): string => firstLine(text).replaceAll(/[\\|`<]/g, (sign) => `\\${sign}`);
  const lines = rows.map(
    ({ job, result, durationMs, reason = "" }) =>
      `| ${[job, SHOWN[result], durationMs === undefined ? "" : formatDuration(durationMs), reason].map(escape).join(" | ")} |`,
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

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

const ENTITIES: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };

// Control characters are not allowed in XML, not even as entities.
function escapeXml(text: string): string {
  return text
    .replaceAll(/[<>&"]/g, (sign) => ENTITIES[sign] ?? "")
    .replaceAll(/[\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]/g, "\uFFFD");
}
