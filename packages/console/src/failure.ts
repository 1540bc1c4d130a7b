import { isStepsError } from "@steps/model";
import { COMMAND_EXITS, exitCodeOfError } from "@steps/model/exit-codes";
import { UsageError } from "./usage-error.ts";
import { complain } from "./terminal.ts";

/** How a program reports its own errors. */
export interface FailureRules {
  /** Advice on a file of the program's own for which permissions are missing. */
  readonly permissionHint?: string;
  /** The part of a path that only files of the program have. Default: all files have the hint. */
  readonly ownFolder?: string;
}

/** Says what ended a command and gives its exit code: 2 for what the caller wrote, what the tables of exit codes say for our own errors, else 1. */
export function describeFailure(error: unknown, command: string, rules: FailureRules = {}): number {
  if (error instanceof UsageError) {
    complain(error.message, error.hint);
    return COMMAND_EXITS.input.code;
  }
  if (isStepsError(error)) {
    complain(error.message, error.hint);
    return exitCodeOfError(error.code, command);
  }
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (error instanceof Error && typeof code === "string" && /^E[A-Z]+$/.test(code)) {
    const { path } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && path !== undefined) {
      complain(`There is no file "${path}"`);
      return COMMAND_EXITS.input.code;
    }
    complain(
      path === undefined ? error.message : `Cannot use "${path}": ${describeCode(code)}`,
      PERMISSIONS.has(code) && isOwn(path, rules) ? rules.permissionHint : undefined,
    );
    return COMMAND_EXITS.failure.code;
  }
  // Anything else is a fault of ours, so the trace of calls is worth more than a tidy line.
  complain(`Internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return COMMAND_EXITS.failure.code;
}

// What a user has named is no matter of the program's own folders.
function isOwn(path: string | undefined, { ownFolder }: FailureRules): boolean {
  return path === undefined || ownFolder === undefined || path.includes(`/${ownFolder}/`);
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

const PERMISSIONS: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);
