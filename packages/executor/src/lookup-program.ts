import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { ExecuteError } from "./execute-error.ts";

/** Where `execvp()` looks when there is no PATH. */
const DEFAULT_PATH = "/bin:/usr/bin";

/** What to look for, and where. */
export interface ProgramQuery {
  /** As the author wrote it, expanded. */
  readonly name: string;
  /** For messages: the name, or what stands for a secret. */
  readonly shownName: string;
  /** The `PATH` of the step, not of the runner. */
  readonly path: string | undefined;
  /** Absolute: names with a slash and entries of the path are relative to it. */
  readonly workDir: string;
}

/** The absolute path of a program. @throws {ExecuteError} COMMAND_NOT_FOUND, COMMAND_NOT_EXECUTABLE */
export function lookupProgram(query: ProgramQuery): string {
  const { name, shownName } = query;
  const isPath = name.includes("/");
  const found = find(query, isPath);
  if (found !== undefined && found.isExecutable) return found.file;
  if (found !== undefined) {
    throw new ExecuteError("COMMAND_NOT_EXECUTABLE", `exec: command "${shownName}" is not an executable file`);
  }
  const where = isPath ? "does not exist" : "was not found in PATH";
  throw new ExecuteError("COMMAND_NOT_FOUND", `exec: command "${shownName}" ${where}`);
}

/** `lookupProgram()` for those who can do without: `undefined` when there is no such program. */
export function findProgram(name: string, options: { path: string | undefined; workDir: string }): string | undefined {
  const found = find({ name, shownName: name, ...options }, name.includes("/"));
  return found?.isExecutable === true ? found.file : undefined;
}

interface Found {
  readonly file: string;
  readonly isExecutable: boolean;
}

// A directory or a plain file in the path is passed over, but remembered for the message.
function find({ name, path, workDir }: ProgramQuery, isPath: boolean): Found | undefined {
  if (name === "" || name.includes("\0")) return undefined;
  if (isPath) return look(resolve(workDir, name));
  let refused: Found | undefined;
  for (const dir of (path ?? DEFAULT_PATH).split(":")) {
    const found = look(resolve(workDir, dir, name));
    if (found?.isExecutable === true) return found;
    refused ??= found;
  }
  return refused;
}

function look(file: string): Found | undefined {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (!stat.isFile()) return { file, isExecutable: false };
  } catch (error) {
    // Not to be reached: a loop of links, a directory that is closed to us.
    void error;
    return undefined;
  }
  try {
    accessSync(file, constants.X_OK);
    return { file, isExecutable: true };
  } catch (error) {
    void error;
    return { file, isExecutable: false };
  }
}
