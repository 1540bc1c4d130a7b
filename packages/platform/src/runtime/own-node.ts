import { bun } from "./engine.ts";

/** A Node.js program. */
export interface NodeProgram {
  /** Absolute. It runs the file that is its first argument. */
  readonly program: string;
  /** The version, as Node writes it: `v24.1.0`. */
  readonly version: string;
}

/** The Node.js that runs this program. `undefined` in the packed executable, which is none: it takes commands of its own instead. */
export function ownNode(): NodeProgram | undefined {
  return bun === undefined ? { program: process.execPath, version: process.version } : undefined;
}
