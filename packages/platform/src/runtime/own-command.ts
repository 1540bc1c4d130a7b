import { isPacked } from "./engine.ts";

/** The program and its first arguments that start this very program again; the arguments of the command follow. */
export function ownCommand(): readonly [program: string, ...args: string[]] {
  return isPacked ? [process.execPath] : [process.execPath, process.argv[1] ?? ""];
}
