import { cancelJob } from "@steps/client";
import { defineCommand } from "@steps/console";
import { openTarget } from "../dial-target.ts";
import { commonFlags, idOf } from "../follow-flags.ts";
import { findRecord } from "../job-records.ts";
import { callOptions } from "../call-options.ts";

export const cancel = defineCommand({
  name: "cancel",
  summary: "Ask a job to end: TERM, grace, KILL",
  usage: "ID [TARGET] [flags]",
  description: ["It does not wait for the end. Nothing happens to a job that ended."],
  flags: commonFlags,
  positionals: { min: 1, max: 1 },
  examples: [["runner-bridge cancel build-42 --docker runner", "cancel a job in a container"]],
  async run(options, positionals) {
    const id = idOf(positionals);
    await using target = openTarget(options);
    await cancelJob(target.dial, id, callOptions(options.token ?? findRecord(id, target.name)?.token));
    return 0;
  },
});
