// The exit codes of all commands. The tables of docs/reference/exit-codes.md are made from these.

/** An exit code, and when a command ends with it. */
export interface ExitCode {
  /** The number, to which that of the signal is added if `addsSignal`. Absent: the code of the process that failed. */
  readonly code?: number;
  readonly addsSignal?: true;
  /** The conditions, for the reference, in Markdown. */
  readonly when: string;
  /** The same in a few words, for the help of the command. Absent where the help leaves it out. */
  readonly meaning?: string;
  /** The codes of errors that lead to it. Default: none. */
  readonly errors?: readonly string[];
  /** True for what `replay` ends with before there is a verdict. */
  readonly hasNoVerdict?: true;
}

/** The exit codes of a job, for `ci`, `local` and `run`. The first one that fits counts. */
export const JOB_EXITS = {
  success: {
    code: 0,
    when: "every step succeeded, or the job is not run because its rules or its condition exclude it",
  },
  timeout: { code: 124, when: "`--timeout` was over" },
  cancelled: {
    code: 128,
    addsSignal: true,
    when: "the runner got signal N: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP",
  },
  process: { when: "a step's process ended with a code that is not 0" },
  killed: {
    code: 128,
    addsSignal: true,
    when: "a step's process was ended by signal N, such as 137 for SIGKILL, 139 for SIGSEGV",
  },
  commandNotFound: { code: 127, when: "a command was not found", errors: ["COMMAND_NOT_FOUND"] },
  commandNotExecutable: { code: 126, when: "a command is not executable", errors: ["COMMAND_NOT_EXECUTABLE"] },
  author: {
    code: 2,
    when: "the author has to mend something: a step file, an input, an expression or a reference; a step that is not there",
    errors: [
      "COMPILE_FAILED",
      "INPUT_INVALID",
      "SECRET_INVALID",
      "EXPRESSION_FAILED",
      "REFERENCE_INVALID",
      "STEP_NOT_FOUND",
    ],
  },
  other: {
    code: 1,
    when: "anything else: a component cannot be had, outputs or exports do not fit, the disk is full",
  },
} as const;

/** The exit codes that any command may end with, besides 0. */
export const COMMAND_EXITS = {
  input: {
    code: 2,
    when: "the arguments, or the input of `compile` and `validate`, are wrong",
    errors: [
      "COMPILE_FAILED",
      "REFERENCE_INVALID",
      "STEP_NOT_FOUND",
      "BASELINE_INVALID",
      "OUTPUT_INVALID",
      "LOCK_INVALID",
      "TEXT_INVALID",
      "REQUEST_INVALID",
      "ADDRESS_INVALID",
    ],
  },
  failure: {
    code: 1,
    when: "the command could not do its part; the Node.js that starts it is older than its `package.json` says; `cache verify` found damage; `lock --check` found a lock that is stale; `trace recover` found no journal; `runner-bridge` lost its job, or cannot reach the service any more",
  },
  newerVersion: { code: 16, when: "a trace is of a newer version", errors: ["VERSION_UNSUPPORTED"] },
  commandUnusable: {
    code: 127,
    when: "the command of `steps serve` is not there or cannot be started",
    errors: ["COMMAND_UNUSABLE"],
  },
} as const;

/** The exit codes of `replay` and `trace diff`, by their verdicts. */
export const REPLAY_EXITS = {
  same: {
    code: 0,
    meaning: "the same (also if the job failed in both, which the report says)",
    when: "the deterministic half is equal, also of a job that failed in both: the report says so, and `recordedStatus` and `replayStatus` of `--report json`; logs, tools or machine may have drifted and are listed",
  },
  different: { code: 10, meaning: "different", when: "it is not equal" },
  "component-mismatch": {
    code: 11,
    meaning: "a component is not what the trace names",
    when: "a component is not what the trace names; found before anything runs, or when a step asks for one that the trace does not name",
  },
  "component-unavailable": {
    code: 12,
    meaning: "a component cannot be had",
    when: "a component cannot be had",
  },
  "missing-secret": {
    code: 13,
    meaning: "a redacted value is missing",
    when: "a redacted value was not given with `--secret`",
  },
  "trace-invalid": {
    code: 14,
    meaning: "the trace is damaged or was changed",
    when: "the file is no trace, or does not match its fingerprints",
    errors: ["TRACE_INVALID"],
  },
  "runtime-drift": {
    code: 15,
    meaning: "the runtime differs (with --strict)",
    when: "with `--strict`: only logs, tools or the machine differ",
  },
  "newer-version": {
    code: 16,
    hasNoVerdict: true,
    meaning: "a newer kind of trace",
    when: "the trace is of a newer version",
    errors: ["VERSION_UNSUPPORTED"],
  },
  cancelled: { code: 130, meaning: "cancelled", when: "a signal, or `n` to the question" },
  error: { code: 1, meaning: "a fault of the runner", when: "a fault of the runner, a file that cannot be read" },
  input: { code: 2, hasNoVerdict: true, when: "the arguments are wrong" },
} as const;

/** The commands whose exit codes are verdicts on a comparison. */
const COMPARING: ReadonlySet<string> = new Set(["replay", "trace diff"]);

/** The exit code of a command that an error with this code ended; 1 unless a table has another. */
export function exitCodeOfError(error: string, command: string): number {
  const tables: readonly Readonly<Record<string, ExitCode>>[] = [
    ...(COMPARING.has(command) ? [REPLAY_EXITS] : []),
    COMMAND_EXITS,
  ];
  const row = tables.flatMap(Object.values<ExitCode>).find(({ errors = [] }) => errors.includes(error));
  return row?.code ?? COMMAND_EXITS.failure.code;
}
