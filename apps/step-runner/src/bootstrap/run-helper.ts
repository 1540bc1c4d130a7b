import { accessSync, constants } from "node:fs";
import { type Program, runProgram, UsageError, describeFailure } from "@steps/console";
import { findHelperCommand } from "./helper-commands.ts";
import { becomeOriginal, findOriginal, ORIGINAL_VARIABLE } from "./original.ts";
import type { Start } from "./start.ts";

const OWN_WORDS: ReadonlySet<string> = new Set(["steps", "--help", "-h", "help"]);

/**
 * Runs us under the name of one of GitLab's programs: the group `steps` is ours, everything else is what that program does
 * if there is one, or else what a job with `run:` needs of it, or a command of ours.
 */
export async function runHelper(program: Program, start: Start): Promise<number> {
  const { name, args } = start;
  const [word = ""] = args;
  const named = { ...program, name };
  if (word === "" || OWN_WORDS.has(word)) return runProgram(named, args);
  try {
    const original = findOriginal(start, process.env);
    if (original === undefined) {
      const command = findHelperCommand(name, word);
      if (command !== undefined) return await command(args.slice(1), process.env);
      if (Object.keys(program.commands).some((command) => command.split(" ")[0] === word))
        return await runProgram(named, args);
      throw new UsageError(
        `Only ${name} steps is served here, and there is no other ${name} for "${word}"`,
        `Put GitLab's program on the PATH, beside this one as ${name}.original, or name it in ${ORIGINAL_VARIABLE}.`,
      );
    }
    // Node does not come back from a failure.
    accessSync(original, constants.X_OK);
    return becomeOriginal(original, args, process.env);
  } catch (error) {
    return describeFailure(error, word, program);
  }
}
