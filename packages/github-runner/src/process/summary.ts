import { appendFileSync } from "node:fs";
import { type Run, tell } from "@steps/executor/kit";
import type { ActionJob } from "../job/action-job.ts";

/** Adds a step's Markdown to the file that the user asked for. */
export function addSummary(run: Run, job: ActionJob, summary: string): void {
  const file = job.host.summaryFile;
  if (file === undefined) return;
  try {
    appendFileSync(file, `${job.host.mask(summary).trimEnd()}\n\n`);
  } catch (error) {
    const message = `The summary cannot be written: ${(error as Error).message}`;
    tell(run, { type: "note", at: Date.now(), path: "", level: "warning", code: "summary", message });
  }
}
