import { toJson } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { listJobs } from "@steps/client";
import { defineCommand, flag } from "@steps/console";
import { print } from "@steps/console/terminal";
import { statusName } from "../status-name.ts";
import { type Job, JobSchema } from "@steps/proto/service";
import { callOptions } from "../call-options.ts";
import { openTarget } from "../dial-target.ts";
import { targetFlags } from "../target-flags.ts";

export const list = defineCommand({
  name: "list",
  summary: "List the jobs that the service knows: those that run, and those that ended and were not closed",
  usage: "[TARGET] [flags]",
  flags: {
    format: flag.choice(["table", "json"], { summary: "How it is written", default: "table" }),
    ...targetFlags,
  },
  positionals: { min: 0, max: 0 },
  examples: [
    ["runner-bridge list", "list the jobs of this machine's service"],
    ["runner-bridge list --ssh ci@host --format json", "list the jobs of another machine for a program"],
  ],
  async run(options) {
    await using target = openTarget(options);
    const jobs = await listJobs(target.dial, callOptions());
    await print(options.format === "json" ? formatJson(jobs) : formatTable(jobs));
    return 0;
  },
});

function formatJson(jobs: readonly Job[]): string {
  return `${JSON.stringify(
    jobs.map((job) => toJson(JobSchema, job)),
    null,
    2,
  )}\n`;
}

function formatTable(jobs: readonly Job[]): string {
  const head = ["ID", "STATUS", "SINCE", "EXIT CODE"];
  const rows = [head, ...jobs.map(rowOf)];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] as number))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function rowOf({ id, runStatus, startedTime, finishedTime, exitCode }: Job): readonly string[] {
  const since = finishedTime ?? startedTime;
  const when =
    since === undefined
      ? ""
      : timestampDate(since)
          .toISOString()
          .replace(/\.\d+Z$/, "Z");

  return [printable(id), statusName(runStatus), when, exitCode === undefined ? "" : String(exitCode)];
}

// Whoever may start a job chose its id; it must not drive the terminal of the one who reads.
function printable(id: string): string {
  return id.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
}
