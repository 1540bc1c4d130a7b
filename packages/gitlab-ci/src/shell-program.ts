/** The parts of a script job. */
export interface ShellProgramOptions {
  /** `before_script` and `script`, one after the other in one shell. */
  readonly commands: readonly string[];
  /** `after_script`, in a shell of its own; empty for none. */
  readonly afterCommands: readonly string[];
  /** Without it a failure of `after_script` does not change the outcome. */
  readonly failsWithAfterScript?: boolean;
  /** Make `/step-runner` a command also where there is no such file. */
  readonly needsStepRunner?: boolean;
}

/**
 * The text of a shell program that runs the commands of a job as GitLab's runner does; for bash, dash and busybox.
 *
 * Each command is shown as `$ command` before it runs, green on a terminal, the first failing one ends the job. With an
 * `after_script` both parts are texts for `eval` in a subshell each: so a syntax error, `exit`, variables and traps of
 * the one do not reach the other, and the program ends with the code of the first.
 */
export function createShellProgram(options: ShellProgramOptions): string {
  const needsStepRunner = options.needsStepRunner === true;
  const main = createPart(options.commands, needsStepRunner);
  if (options.afterCommands.length === 0) return main;
  const after = createPart(options.afterCommands, needsStepRunner);
  // Outside of `if` and `||`, where a subshell's own `set -e` would be ignored.
  return `set +e
(
eval ${quoteForShell(main)}
)
__steps_status=$?
if [ "$__steps_status" -eq 0 ]; then CI_JOB_STATUS=success; else CI_JOB_STATUS=failed; fi
export CI_JOB_STATUS
(
unset __steps_status
eval ${quoteForShell(after)}
)
${createVerdict(options.failsWithAfterScript === true)}`;
}

function createVerdict(failsWithAfterScript: boolean): string {
  if (failsWithAfterScript) {
    return `__steps_after=$?
if [ "$__steps_status" -eq 0 ]; then exit "$__steps_after"; fi
exit "$__steps_status"
`;
  }
  return `__steps_after=$?
if [ "$__steps_after" -ne 0 ]; then
  printf 'WARNING: after_script failed, but job will continue unaffected: exit code %s\\n' "$__steps_after" >&2
fi
exit "$__steps_status"
`;
}

// `set -o pipefail` ends a shell that does not know it, hence the attempt in a subshell.
const HEADER = String.raw`set -e
if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi
if [ -t 1 ]; then __steps_line='\033[32;1m%s\033[0;m\n'; else __steps_line='%s\n'; fi
`;

// Bash takes any function name outside of its POSIX mode, other shells any alias; neither can read the other's way.
const STEP_RUNNER = `if ! [ -f /step-runner ] || ! [ -x /step-runner ]; then
  if [ -n "\${BASH_VERSION-}" ]; then
    case ":$SHELLOPTS:" in
      *:posix:*) set +o posix; eval 'function /step-runner { command step-runner "$@"; }'; set -o posix ;;
      *) eval 'function /step-runner { command step-runner "$@"; }' ;;
    esac
  else
    alias /step-runner=step-runner
  fi
fi
`;

function createPart(commands: readonly string[], needsStepRunner: boolean): string {
  return `${HEADER}${needsStepRunner ? STEP_RUNNER : ""}${commands.map(createCommand).join("")}`;
}

function createCommand(command: string): string {
  const text = command.trim();
  if (text === "") return "echo\n";
  const end = text.indexOf("\n");
  const shown = end === -1 ? text : `${text.slice(0, end)} # collapsed multi-line command`;
  return `printf "$__steps_line" ${quoteForShell(`$ ${shown}`)}\n${text}\n`;
}

/** The text as one word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
