import { lookForProgram } from "@steps/platform/processes";
import { ExecuteError } from "../outcome/execute-error.ts";

/** A program to look for, and the folders to look in. */
export interface ProgramQuery {
  /** The name of the program as the author wrote it, expanded. */
  readonly name: string;
  /** The name for messages: a text that stands for the name when that is a secret. */
  readonly shownName: string;
  /** The `PATH` of the step, not of the runner. */
  readonly path: string | undefined;
  /** The absolute path that names with a slash and entries of `path` are relative to. */
  readonly workDir: string;
}

/** The absolute path of a program. @throws {ExecuteError} COMMAND_NOT_FOUND, COMMAND_NOT_EXECUTABLE */
export function lookupProgram(query: ProgramQuery): string {
  const { name, shownName } = query;
  const isPath = name.includes("/");
  const found = lookForProgram(name, query);
  if (found !== undefined && found.isExecutable) return found.file;
  if (found !== undefined) {
    throw new ExecuteError("COMMAND_NOT_EXECUTABLE", `exec: command "${shownName}" is not an executable file`);
  }
  const where = isPath ? "does not exist" : "was not found in PATH";
  throw new ExecuteError("COMMAND_NOT_FOUND", `exec: command "${shownName}" ${where}`);
}
