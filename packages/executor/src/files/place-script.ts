import { basename } from "node:path";
import { isSensitive, revealString, type RuntimeString } from "@steps/model";
import type { Level } from "../run/level.ts";

/** Linux takes no argument of 128 KiB or more, however much room there is for all of them. */
const MAX_ARGUMENT_BYTES = 120 * 1024;

/** Shells that run a file as they run a text behind `-c`. */
const SHELLS: ReadonlySet<string> = new Set(["sh", "ash", "bash", "dash", "ksh", "mksh", "zsh"]);

/** A command, and what is started for it. */
export interface PlacedCommand {
  /** As it is told. */
  readonly command: readonly RuntimeString[];
  /** As it is started. */
  readonly started: readonly RuntimeString[];
  /** Which of the arguments that are started hold a secret: everybody on the machine can read them. */
  readonly exposed: readonly number[];
}

/**
 * The command `[shell, ...flags, "-c", text]`, or with PowerShell's `-Command`, as it can be run: a text that holds a secret, which
 * would be in everybody's list of processes, is written to a private file of the step and the shell is given the file; so is a text
 * of the built-in script step that is too long for an argument. Any other command stays as it is.
 */
export function placeScript(
  command: readonly RuntimeString[],
  { files, path }: Pick<Level, "files" | "path">,
  { isScript }: { readonly isScript: boolean },
): PlacedCommand {
  const item = command.at(-1);
  const flag = command.at(-2);
  const isPwsh = flag === "-Command";
  const isText = item !== undefined && (isPwsh || flag === "-c") && (isScript || isShell(command[0]));
  const text = isText ? revealString(item) : "";
  const isSecret = isText && isSensitive(item);
  const isLong = isScript && Buffer.byteLength(text) > MAX_ARGUMENT_BYTES;
  // A text that holds a NUL cannot be run, and the shell would not say so if it came in a file.
  if (!(isSecret || isLong) || text.includes("\0")) return { command, started: command, exposed: exposedIn(command) };
  const before = command.slice(0, -2);
  // PowerShell takes no file that is not called so.
  const started = isPwsh
    ? [...before, "-File", files.privateFile("script", text, `${path}.ps1`)]
    : [...before, files.privateFile("script", text, path)];
  return { command: isLong ? started : command, started, exposed: exposedIn(started) };
}

function isShell(word: RuntimeString | undefined): boolean {
  return typeof word === "string" && SHELLS.has(basename(word));
}

function exposedIn(command: readonly RuntimeString[]): number[] {
  return command.flatMap((item, index) => (isSensitive(item) ? [index] : []));
}
