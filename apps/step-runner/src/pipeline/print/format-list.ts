import { printable } from "@steps/model/diagnostic";
import { alignColumns, escapeCell, firstLine } from "@steps/pipeline-view";
import type { ListedJob } from "./listed-job.ts";

/** The jobs as `--list` shows them: a line for each with its stage, when it starts, and what decided so. */
export function formatList(jobs: readonly ListedJob[]): string {
  // A list without stages is short: its reasons stand right behind the names.
  if (jobs.every(({ stage }) => stage === undefined)) {
    return jobs
      .map((job) => `${printable([job.job, reasonOf(job)].filter((part) => part !== "").join("  "))}\n`)
      .join("");
  }
  return alignColumns(
    jobs.map((job) => [job.job, job.stage ?? "", job.when ?? "", reasonOf(job)].map((cell) => printable(cell))),
  );
}

function reasonOf({ isIn, when, reason, place, isReasonWritten = true }: ListedJob): string {
  if (reason === undefined || (isIn && !isReasonWritten)) return "";
  const how = isIn || when !== undefined ? "" : "skipped: ";
  return `(${how}${firstLine(reason)}${place === undefined ? "" : `, ${place}`})`;
}

/** The same for programs: `{jobs: [{job, stage, isIn, when, allowFailure, needs, reason, place}]}`. */
export function formatListJson(jobs: readonly ListedJob[]): string {
  const shown = { jobs: jobs.map((job) => ({ ...job, isReasonWritten: undefined })) };
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}

/** The same as a table in Markdown. */
export function formatListMarkdown(jobs: readonly ListedJob[]): string {
  const lines = jobs.map(({ job, stage = "", isIn, when, reason = "", place = "" }) => {
    const cells = [job, stage, when ?? (isIn ? "runs" : "skipped"), reason, place];
    return `| ${cells.map(escapeCell).join(" | ")} |\n`;
  });
  return `| job | stage | when | reason | place |\n| --- | --- | --- | --- | --- |\n${lines.join("")}`;
}
