import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";

/** The path that `execvp()` searches when there is no PATH. */
const DEFAULT_PATH = "/bin:/usr/bin";

/** The folders in which programs are looked for. */
export interface ProgramPlaces {
  /** The `PATH` of whoever wants to run it: folders between colons. */
  readonly path: string | undefined;
  /** Absolute: names with a slash and entries of the path are relative to it. */
  readonly workDir: string;
}

/** A file that has the name of a program. */
export interface FoundProgram {
  /** Absolute. */
  readonly file: string;
  readonly isExecutable: boolean;
}

/** The absolute path of a program; `undefined` when there is none that can be run. */
export function findProgram(name: string, places: ProgramPlaces): string | undefined {
  const found = lookForProgram(name, places);
  return found?.isExecutable === true ? found.file : undefined;
}

/**
 * Looks for a program as `execvp()` does. What is on the path and cannot be run, as a directory, is passed over, but given if
 * there is nothing else; `undefined` where nothing has the name.
 */
export function lookForProgram(name: string, { path, workDir }: ProgramPlaces): FoundProgram | undefined {
  if (name === "" || name.includes("\0")) return undefined;
  if (name.includes("/")) return look(resolve(workDir, name));
  let refused: FoundProgram | undefined;
  for (const dir of (path ?? DEFAULT_PATH).split(":")) {
    const found = look(resolve(workDir, dir, name));
    if (found?.isExecutable === true) return found;
    refused ??= found;
  }
  return refused;
}

function look(file: string): FoundProgram | undefined {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (!stat.isFile()) return { file, isExecutable: false };
  } catch {
    // Not to be reached: a loop of links, a directory that is closed to us.
    return undefined;
  }
  try {
    accessSync(file, constants.X_OK);
    return { file, isExecutable: true };
  } catch {
    return { file, isExecutable: false };
  }
}
