import { lookForProgram } from "@steps/platform/processes";
import { ExecuteError } from "../outcome/execute-error.ts";

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
  const found = lookForProgram(name, query);
  if (found !== undefined && found.isExecutable) return found.file;
  if (found !== undefined) {
    throw new ExecuteError("COMMAND_NOT_EXECUTABLE", `exec: command "${shownName}" is not an executable file`);
  }
  const where = isPath ? "does not exist" : "was not found in PATH";
  throw new ExecuteError("COMMAND_NOT_FOUND", `exec: command "${shownName}" ${where}`);
}
