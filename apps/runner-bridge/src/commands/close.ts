import { closeJob } from "@steps/client";
import { defineCommand } from "@steps/console";
import { openTarget } from "../dial-target.ts";
import { commonFlags, idOf } from "../follow-flags.ts";
import { findRecord, removeRecord } from "../job-records.ts";
import { callOptions } from "../call-options.ts";

export const close = defineCommand({
  name: "close",
  summary: "End a job if it runs, and let the service forget it with its log",
  usage: "ID [TARGET] [flags]",
  flags: commonFlags,
  positionals: { min: 1, max: 1 },
  examples: [["runner-bridge close build-42 --docker runner", "remove a job from a container's service"]],
  async run(options, positionals) {
    const id = idOf(positionals);
    await using target = openTarget(options);
    const record = findRecord(id, target.name);
    await closeJob(target.dial, id, callOptions(options.token ?? record?.token));
    if (record !== undefined) removeRecord(record);
    return 0;
  },
});
