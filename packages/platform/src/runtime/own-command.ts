import { isPacked } from "./engine.ts";

/** The program and its first arguments that start this very program again; the arguments of the command follow. */
export function ownCommand(): readonly [program: string, ...args: string[]] {
  return isPacked ? [process.execPath] : [process.execPath, process.argv[1] ?? ""];
}

/**
 * The variables with which this engine does something else than to run the program, in the commands that `ownCommand()` starts: whoever
 * starts them for a job takes these out of its environment. Empty for Node.
 */
export const steeringVariables: readonly string[] = isPacked
  ? ["BUN_BE_BUN", "BUN_INSPECT", "BUN_INSPECT_CONNECT_TO", "BUN_INSPECT_PRELOAD", "BUN_OPTIONS"]
  : [];
