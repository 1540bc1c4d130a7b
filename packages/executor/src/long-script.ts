import { revealString, type RuntimeString } from "@steps/model";
import type { Level } from "./level.ts";

/** Linux takes no argument of 128 KiB or more, however much room there is for all of them. */
const MAX_ARGUMENT_BYTES = 120 * 1024;

/**
 * The command of the built-in script step, `[shell, ...flags, "-c", text]` or with PowerShell's `-Command`, as it can be
 * run: a text that is too long for an argument is written to a file of the step, and the shell is given the file. Any
 * other command stays as it is.
 */
export function placeLongScript(
  command: readonly RuntimeString[],
  { files, path }: Pick<Level, "files" | "path">,
): readonly RuntimeString[] {
  const item = command.at(-1);
  const flag = command.at(-2);
  const isPwsh = flag === "-Command";
  if (item === undefined || (flag !== "-c" && !isPwsh)) return command;
  const text = revealString(item);
  // What holds a NUL cannot be run, and the shell would not say so of a file.
  if (Buffer.byteLength(text) <= MAX_ARGUMENT_BYTES || text.includes("\0")) return command;
  // PowerShell takes no file that is not called so.
  return isPwsh
    ? [...command.slice(0, -2), "-File", files.privateFile("script", text, `${path}.ps1`)]
    : [...command.slice(0, -2), files.privateFile("script", text, path)];
}
