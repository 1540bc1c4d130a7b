import { isPacked } from "./engine.ts";

/** The packed executable that runs. */
export interface PackedProgram {
  /** The name or path that it was called by. */
  readonly calledAs: string;
}

/** Describes the executable that holds this program. `undefined` where a Node.js runs a file. */
export function packedProgram(): PackedProgram | undefined {
  return isPacked ? { calledAs: process.argv0 } : undefined;
}
