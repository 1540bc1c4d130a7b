import { defineCommand } from "@steps/console";
import { print } from "@steps/console/terminal";
import type { JobView } from "@steps/pods";
import { adminClient } from "../admin-client.ts";
import { idOf } from "../id-argument.ts";
import { podFlags } from "../pod-flags.ts";
import { formatJson } from "../table.ts";

export const cancel = defineCommand({
  name: "cancel",
  summary: "Cancel a job",
  usage: "JOB [flags]",
  description: [
    "A job that no runner has is canceled at once. A runner is told to stop with its next call; one that can lets the job end gracefully: " +
      "until then it is canceling.",
  ],
  flags: podFlags,
  positionals: { min: 1, max: 1 },
  examples: [["pod cancel 42", "cancel job 42"]],
  async run(options, positionals) {
    const job = await adminClient(options).call<JobView>("POST", `/jobs/${idOf(positionals)}/cancel`);
    await print(options.report === "json" ? formatJson(job) : `Job ${job.id} is ${job.state}\n`);
    return 0;
  },
});
