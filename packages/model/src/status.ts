/** How a step, or a run, ended. */
export type Status = "success" | "failure" | "error" | "timeout" | "cancelled" | "skipped" | "interrupted";

/** Why a step did not succeed. */
export interface StepFailure {
  /** A code of the error's closed union, or `EXIT_STATUS` when a process ended with a code other than 0. */
  readonly code: string;
  /** `step "a": step "b": exec: exit status 3` */
  readonly message: string;
}

/** How a run ended. */
export interface Outcome {
  readonly status: Status;
  /** The exit code of the process that failed; absent when none did. */
  readonly exitCode?: number;
  /** The signal that ended the process, or the one that cancelled the run. */
  readonly signal?: string;
  readonly error?: StepFailure;
}

/** Codes of failures that the author of the steps has to mend: exit code 2. */
const AUTHOR_FAILURES: ReadonlySet<string> = new Set([
  "COMPILE_FAILED",
  "INPUT_INVALID",
  "SECRET_INVALID",
  "EXPRESSION_FAILED",
  "REFERENCE_INVALID",
  "STEP_NOT_FOUND",
]);

// Linux's numbers; those above 15 differ on other systems, where no shell's caller reads them.
const SIGNAL_NUMBERS: ReadonlyMap<string, number> = new Map([
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGQUIT", 3],
  ["SIGILL", 4],
  ["SIGTRAP", 5],
  ["SIGABRT", 6],
  ["SIGBUS", 7],
  ["SIGFPE", 8],
  ["SIGKILL", 9],
  ["SIGUSR1", 10],
  ["SIGSEGV", 11],
  ["SIGUSR2", 12],
  ["SIGPIPE", 13],
  ["SIGALRM", 14],
  ["SIGTERM", 15],
  ["SIGXCPU", 24],
  ["SIGXFSZ", 25],
  ["SIGSYS", 31],
]);

/**
 * The exit code of a command for an outcome: the failing process's own code; 2 for what the author has to mend;
 * 124 for a timeout; 128 and the number of the signal, so 130 and 143 for SIGINT and SIGTERM; 127 and 126 for a program that is not there or cannot be run;
 * otherwise 1.
 */
export function exitCodeOf(outcome: Outcome): number {
  if (outcome.status === "success" || outcome.status === "skipped") return 0;
  if (outcome.status === "timeout") return 124;
  if (outcome.status === "cancelled") return 128 + (SIGNAL_NUMBERS.get(outcome.signal ?? "SIGTERM") ?? 15);
  if (outcome.exitCode !== undefined && outcome.exitCode !== 0) return outcome.exitCode;
  if (outcome.signal !== undefined) return 128 + (SIGNAL_NUMBERS.get(outcome.signal) ?? 0);
  const code = outcome.error?.code ?? "";
  if (code === "COMMAND_NOT_FOUND") return 127;
  if (code === "COMMAND_NOT_EXECUTABLE") return 126;
  return AUTHOR_FAILURES.has(code) ? 2 : 1;
}
