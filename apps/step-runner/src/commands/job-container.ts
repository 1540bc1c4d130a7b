import { defineCommand, UsageError } from "@steps/console";
import { print } from "@steps/console/terminal";
import { type Preparation, prepareContainer, type Restoration, restoreFolders } from "@steps/job-containers/inside";

/** The command that `local` and `pipeline` call as root in the containers of their jobs. */
export const jobContainer = defineCommand({
  name: "job-container",
  summary: "Prepare the container of a job, or give its files back, inside of it",
  usage: "prepare|restore JSON",
  description: ["The runner that made the container calls it there; the answer is a line of JSON."],
  flags: {},
  positionals: { min: 2, max: 2 },
  isHidden: true,
  examples: [["step-runner job-container restore JSON", "give the folders that it names to the user outside"]],
  async run(_options, [task = "", text = ""]) {
    if (task === "prepare") await print(`${JSON.stringify(await prepareContainer(JSON.parse(text) as Preparation))}\n`);
    else if (task === "restore")
      await print(`${JSON.stringify(await restoreFolders(JSON.parse(text) as Restoration))}\n`);
    else throw new UsageError(`There is no task "${task}"`, "It takes prepare or restore.");
    return 0;
  },
});
