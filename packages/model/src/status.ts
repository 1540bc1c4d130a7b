import { type ExitCode, JOB_EXITS } from "./exit-codes.ts";

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

/** The exit code of a command for an outcome, by the table of a job. */
export function exitCodeOf(outcome: Outcome): number {
  const { status, exitCode, signal, error } = outcome;
  if (status === "success" || status === "skipped") return JOB_EXITS.success.code;
  if (status === "timeout") return JOB_EXITS.timeout.code;
  if (status === "cancelled") return JOB_EXITS.cancelled.code + (SIGNAL_NUMBERS.get(signal ?? "SIGTERM") ?? 15);
  if (exitCode !== undefined && exitCode !== 0) return exitCode;
  if (signal !== undefined) return JOB_EXITS.killed.code + (SIGNAL_NUMBERS.get(signal) ?? 0);
  const rows: readonly ExitCode[] = Object.values(JOB_EXITS);
  return rows.find(({ errors = [] }) => errors.includes(error?.code ?? ""))?.code ?? JOB_EXITS.other.code;
}
