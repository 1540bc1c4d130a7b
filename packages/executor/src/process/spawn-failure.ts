import { descriptorLimit } from "@steps/platform/processes";
import { ExecuteError } from "../outcome/execute-error.ts";

const TEXTS: Readonly<Record<string, string>> = {
  E2BIG: "the command and its environment are larger than the system takes",
  EAGAIN: "the system allows no more processes",
  ENFILE: "the system has too many files open",
  SPAWNER_LOST: "how the process ended is not known: the program that starts processes was killed",
  ENOMEM: "there is not enough memory",
};

/** The failure of a step whose process could not be started. Node's own message may quote the environment. */
export function spawnFailure(error: NodeJS.ErrnoException): ExecuteError {
  const code = error.code ?? "";
  if (code === "ENOENT") {
    // The program was there when it was looked up.
    return new ExecuteError("COMMAND_NOT_EXECUTABLE", "exec: the program's interpreter does not exist");
  }
  if (code === "EACCES" || code === "EPERM" || code === "ENOEXEC" || code === "ELIBBAD") {
    return new ExecuteError("COMMAND_NOT_EXECUTABLE", `exec: the system refuses to run the program: ${code}`);
  }
  if (code === "ERR_INVALID_ARG_VALUE") {
    return new ExecuteError("SPAWN_FAILED", "exec: the command or its environment holds a NUL character");
  }
  if (code === "EMFILE") return new ExecuteError("SPAWN_FAILED", `exec: ${tooManyFiles()}`);
  const text =
    TEXTS[code] ?? (code === "" ? "the process cannot be started" : `the process cannot be started: ${code}`);
  return new ExecuteError("SPAWN_FAILED", `exec: ${text}`);
}

function tooManyFiles(): string {
  const limit = descriptorLimit();
  const shown = limit === undefined ? "" : `, ${limit} at most`;
  return `the runner has too many files open${shown}: raise the limit (ulimit -n), or run fewer steps at a time`;
}
