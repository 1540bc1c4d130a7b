import { defineCommand, flag } from "@steps/console";
import { jobCommand } from "../job-command.ts";
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
    "The job is kept, so that it can be followed again, until it is closed or expires.",
    "Ctrl-C detaches: the job goes on, this command says how it is followed again, and ends with exit code 130 (143 for SIGTERM). A " +
      "second one does not wait for anything. runner-bridge cancel ends the job.",
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
    const token = options.token ?? known?.token;
    const [again, end] = (["follow", "cancel"] as const).map((name) => jobCommand(name, id, options));
    const whenDetached = `Follow it again: ${again}; end it: ${end}`;
    const shown = { token, record, keep: !options.close, whenDetached };
    return await showJob(options, shown, (follow) => followJob(target.dial, id, follow));
  },
});
