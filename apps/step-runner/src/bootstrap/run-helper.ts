import { accessSync, constants } from "node:fs";
import { type Program, runProgram, UsageError, describeFailure } from "@steps/console";
import { becomeOriginal, findOriginal, ORIGINAL_VARIABLE } from "./original.ts";
import type { Start } from "./start.ts";

const OWN_WORDS: ReadonlySet<string> = new Set(["steps", "--help", "-h", "help"]);

/**
 * Runs us under the name of one of GitLab's programs: the group `steps` is ours, everything else is what that program does
 * if there is one, or else a command of ours.
 */
export async function runHelper(program: Program, start: Start): Promise<number> {
  const { name, args } = start;
  const [word = ""] = args;
  const named = { ...program, name };
  if (word === "" || OWN_WORDS.has(word)) return runProgram(named, args);
  try {
    const original = findOriginal(start, process.env);
    if (original === undefined) {
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
