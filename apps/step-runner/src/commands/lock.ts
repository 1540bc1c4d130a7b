import { defineCommand, flag, type OptionsOf } from "@steps/console";
import { complain, errors, writeWhole } from "@steps/console/terminal";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { existsSync, readFileSync } from "node:fs";
import { lockFile } from "../flags/component-flags.ts";
import { jobFlags } from "../input/read-job.ts";
import { fetchFlags } from "../flags/run-flags.ts";

const flags = {
  check: flag.boolean({ summary: "Write nothing; exit with 1 if the lock is not what would be written" }),
  lenient: flag.boolean({ summary: "Unknown keys are warnings", env: "STEP_RUNNER_LENIENT" }),
  ...lockFile,
  ...jobFlags,
  ...fetchFlags,
};
type Options = OptionsOf<typeof flags>;

export const lock = defineCommand({
  name: "lock",
  summary: "Write down which components steps use, so that --locked uses no others",
  usage: "[FILE|REF]… [flags]",
  description: [
    "Follows everything that the steps name, as compile --eager does, and writes what each branch, tag and URL means now: the " +
      "commit or digest, and the tree. Of a .gitlab-ci.yml or a workflow of GitHub every job is read, also those of workflows that are called. Without an argument the variable STEPS is read, or the .gitlab-ci.yml of this folder or of the nearest above it.",
    "What is named by an expression is found out only when it runs; --locked refuses it unless another step names it, too. " +
      "Folders and archives on this machine are not locked.",
  ],
  flags,
  positionals: { min: 0, max: 1000 },
  examples: [
    ["step-runner lock .gitlab-ci.yml", "lock the components of all jobs"],
    ["step-runner local --job-name test --locked", "run with exactly these"],
    ["step-runner lock .gitlab-ci.yml --check", "find out whether a tag has moved"],
  ],
  run,
});

async function run(options: Options, named: readonly string[]): Promise<number> {
  const { lockText } = await import("../lock/lock-text.ts");
  const locked = await lockText(options, named);
  if (locked === undefined) return COMMAND_EXITS.input.code;
  const name = options.lockFile;
  const found = existsSync(name) ? readFileSync(name, "utf8") : undefined;
  if (options.check) {
    if (found === locked.text) return 0;
    complain(found === undefined ? `There is no lock "${name}"` : `The lock "${name}" is stale`);
    return COMMAND_EXITS.failure.code;
  }
  if (found !== locked.text) writeWhole(name, locked.text);
  await errors.write(Buffer.from(`${name}: ${locked.count} component${locked.count === 1 ? "" : "s"}\n`));
  return 0;
}
