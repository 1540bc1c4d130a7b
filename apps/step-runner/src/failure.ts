import { isStepsError } from "@steps/model";
import { UsageError } from "./command.ts";
import { complain } from "./terminal.ts";

const AUTHOR_CODES: ReadonlySet<string> = new Set([
  "COMPILE_FAILED",
  "REFERENCE_INVALID",
  "STEP_NOT_FOUND",
  "BASELINE_INVALID",
]);

/** Says what ended a command and gives its exit code: 2 for what the caller wrote, 14 and 16 for a trace, 1 for the rest. */
export function describeFailure(error: unknown, command: string): number {
  if (error instanceof UsageError) {
    complain(error.message, error.hint);
    return 2;
  }
  if (isStepsError(error)) {
    complain(error.message, error.hint);
    if (error.code === "TRACE_INVALID" && command === "replay") return 14;
    if (error.code === "VERSION_UNSUPPORTED") return 16;
    return AUTHOR_CODES.has(error.code) ? 2 : 1;
  }
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (error instanceof Error && typeof code === "string" && /^E[A-Z]+$/.test(code)) {
    const { path } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && path !== undefined) {
      complain(`There is no file "${path}"`);
      return 2;
    }
    complain(path === undefined ? error.message : `Cannot use "${path}": ${describeCode(code)}`, hintFor(code));
    return 1;
  }
  // Anything else is a fault of ours, so the trace of calls is worth more than a tidy line.
  complain(`Internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return 1;
}

const CODES: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EISDIR: "it is a folder",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is not a folder",
  EPERM: "permission denied",
  EROFS: "it may only be read",
};

function describeCode(code: string): string {
  return CODES[code] ?? code;
}

function hintFor(code: string): string | undefined {
  if (code !== "EACCES" && code !== "EPERM" && code !== "EROFS") return undefined;
  return "Journals and components are kept below HOME; --state-dir and --cache-dir name other places.";
}
