import { defineCommand, flag } from "@steps/console";
import { followJob } from "@steps/client";
import { openTarget } from "../dial-target.ts";
import { commonFlags, followFlags, idOf } from "../follow-flags.ts";
import { findRecord } from "../job-records.ts";
import { showJob } from "../show-job.ts";

export const follow = defineCommand({
  name: "follow",
  summary: "Print the output of a job that runs or ran, from its beginning, and exit as it does",
  usage: "ID [TARGET] [flags]",
  description: [
    "The job is kept, so that it can be followed again, until it is closed or expires. Ctrl-C leaves it alone: it goes on, and " +
      "runner-bridge cancel ends it. A second one ends this command at once.",
  ],
  flags: {
    close: flag.boolean({ summary: "Close the job when it has ended" }),
    ...followFlags,
    ...commonFlags,
  },
  positionals: { min: 1, max: 1 },
  examples: [["runner-bridge follow build-42 --docker runner", "follow a job in a container"]],
  async run(options, positionals) {
    const id = idOf(positionals);
    await using target = openTarget(options);
    const known = findRecord(id, target.name);
    const record = known ?? { id, target: target.name };
    const shown = { token: options.token ?? known?.token, record, keep: !options.close, detaches: true };
    return await showJob(options, shown, (follow) => followJob(target.dial, id, follow));
  },
});
