import { defineCommand, flag } from "@steps/console";
import { print } from "@steps/console/terminal";
import type { JobView } from "@steps/pods";
import { adminClient } from "../admin-client.ts";
import { podFlags } from "../pod-flags.ts";
import { formatJson, formatTable } from "../table.ts";

const STATES = [
  "created",
  "scheduled",
  "manual",
  "pending",
  "assigned",
  "running",
  "canceling",
  "success",
  "failed",
  "canceled",
  "skipped",
] as const;

export const jobs = defineCommand({
  name: "jobs",
  summary: "List the newest jobs, or those of a pipeline",
  usage: "[flags]",
  flags: {
    state: flag.choice(STATES, { summary: "Only jobs in this state" }),
    project: flag.text({ placeholder: "PATH", summary: "Only jobs of this project" }),
    pipeline: flag.integer({ placeholder: "ID", summary: "Only jobs of this pipeline" }),
    limit: flag.integer({ summary: "At most so many", default: "50", min: 1, max: 1000 }),
    ...podFlags,
  },
  positionals: { min: 0, max: 0 },
  examples: [
    ["pod jobs --state running", "what runs now"],
    ["pod jobs --pipeline 7 --report json", "the jobs of a pipeline, for a program"],
  ],
  async run(options) {
    const query = new URLSearchParams({ limit: String(options.limit) });
    for (const name of ["state", "project", "pipeline"] as const)
      if (options[name] !== undefined) query.set(name, String(options[name]));
    const list = await adminClient(options).call<readonly JobView[]>("GET", `/jobs?${query.toString()}`);
    const head = ["ID", "PIPELINE", "PROJECT", "STAGE", "NAME", "STATE", "RUNNER", "TRACE"];
    await print(options.report === "json" ? formatJson(list) : formatTable([head, ...list.map(rowOf)]));
    return 0;
  },
});

function rowOf(job: JobView): readonly string[] {
  const why = job.failure_reason === null || job.failure_reason === "script_failure" ? "" : ` (${job.failure_reason})`;
  return [
    String(job.id),
    String(job.pipeline_id),
    job.project,
    job.stage,
    job.name,
    job.state + why,
    job.runner_id === null ? "" : String(job.runner_id),
    `${job.trace_size} B`,
  ];
}
