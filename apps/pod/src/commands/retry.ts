import { defineCommand } from "@steps/console";
import { print } from "@steps/console/terminal";
import type { JobView } from "@steps/pods";
import { adminClient } from "../admin-client.ts";
import { idOf } from "../id-argument.ts";
import { podFlags } from "../pod-flags.ts";
import { formatJson } from "../table.ts";

export const retry = defineCommand({
  name: "retry",
  summary: "Run a job that ended once more, and then those behind it that did not run",
  usage: "JOB [flags]",
  description: [
    "A new job with an id of its own takes its place in the pipeline. The old one stays as it is, with its trace.",
  ],
  flags: podFlags,
  positionals: { min: 1, max: 1 },
  examples: [["pod retry 42", "try job 42 again"]],
  async run(options, positionals) {
    const id = idOf(positionals);
    const job = await adminClient(options).call<JobView>("POST", `/jobs/${id}/retry`);
    await print(
      options.report === "json" ? formatJson(job) : `Job ${job.id} takes the place of job ${id}: ${job.state}\n`,
    );
    return 0;
  },
});
