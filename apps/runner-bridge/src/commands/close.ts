import { closeJob } from "@steps/client";
import type { Command } from "@steps/console";
import { openTarget } from "../dial-target.ts";
import { commonFlags, idOf, tokenOf } from "../follow-flags.ts";
import { findRecord, removeRecord } from "../job-records.ts";
import { callOptions } from "../call-options.ts";

export const close: Command = {
  name: "close",
  summary: "End a job if it runs, and let the service forget it with its log",
  usage: "ID [TARGET] [flags]",
  flags: commonFlags,
  positionals: { min: 1, max: 1 },
  examples: [["runner-bridge close build-42 --docker runner", "remove a job from a container's service"]],
  async run(line) {
    const id = idOf(line);
    await using target = openTarget(line);
    const record = findRecord(id, target.name);
    await closeJob(target.dial, id, callOptions(tokenOf(line) ?? record?.token));
    if (record !== undefined) removeRecord(record);
    return 0;
  },
};
