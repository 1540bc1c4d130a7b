/** The parts of a script for bash, dash and busybox, or for PowerShell. */
export interface ScriptProgram {
  /** The commands, one after the other in one shell. */
  readonly commands: readonly string[];
  /** Whether each command is shown as `$ command` before it runs. */
  readonly isEchoed: boolean;
  /** Whether the shell prints what it runs, expanded. */
  readonly isTraced: boolean;
  /** Whether the status is looked at after each command too, for commands that switch errexit off. */
  readonly checksErrors: boolean;
  /** Whether commands of several lines are sections of the log that can be folded. */
  readonly hasSections: boolean;
  /** Make `/step-runner` a command also where there is no such file. */
  readonly needsStepRunner: boolean;
  /** The text that is printed with the exit code when the script fails; empty for none. */
  readonly failureWarning: string;
}

/**
 * The text of a shell program that runs commands as GitLab's runner does: each is shown before it runs, green on a terminal, the
 * first failing one ends the script, TERM ends it with its traps, and what earlier scripts of the job wrote to `$GITLAB_ENV` is in
 * the environment.
 */
export function posixProgram(program: ScriptProgram): string {
  const { commands, needsStepRunner, isTraced, failureWarning } = program;
  const text = [
    HEADER,
    needsStepRunner ? STEP_RUNNER : "",
    isTraced ? "set -o xtrace\n" : "",
    ...commands.map((command, at) => commandOf(command, at, program)),
  ].join("");
  return failureWarning === "" ? text : warning(text, failureWarning);
}

// As a text for `eval` a syntax error ends the subshell alone; outside of `if` and `||`, where its `set -e` would be ignored.
function warning(text: string, failureWarning: string): string {
  return `trap 'exit 1' TERM
set +e
(
eval ${quoteForShell(text)}
)
__steps_status=$?
if [ "$__steps_status" -ne 0 ]; then
  printf 'WARNING: %s: exit code %s\\n' ${quoteForShell(failureWarning)} "$__steps_status" >&2
fi
exit "$__steps_status"
`;
}

// `set -o pipefail` ends a shell that does not know it, hence the attempt in a subshell; so does `export` of a name that is none,
// unless `command` stands before it.
const HEADER = String.raw`trap 'exit 1' TERM
set -e
if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi
set +o noclobber
if [ -f "$GITLAB_ENV" ]; then
  while read -r __steps_line || [ -n "$__steps_line" ]; do
    case "$__steps_line" in *=*) command export "$__steps_line" || true ;; esac
  done <"$GITLAB_ENV"
fi
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

const CHECK = `__steps_status=$?; if [ "$__steps_status" -ne 0 ]; then exit "$__steps_status"; fi\n`;

function commandOf(command: string, at: number, { isEchoed, checksErrors, hasSections }: ScriptProgram): string {
  const text = command.trim();
  if (text === "") return isEchoed ? "echo\n" : "";
  const { first, isCollapsed } = shownPart(text);
  const echo = isEchoed ? `printf "$__steps_line" ${quoteForShell(`$ ${first}`)}\n` : "";
  const run = `${text}\n${checksErrors ? CHECK : ""}`;
  if (!hasSections || !isCollapsed) return `${echo}${run}`;
  const name = `script_step_${at}`;
  return `${section("start", `${name}[hide_duration=true,collapsed=true]`)}${echo}${run}${section("end", name)}`;
}

function section(word: "start" | "end", name: string): string {
  const newLine = word === "end" ? String.raw`\n` : "";
  return `printf '\\033[0Ksection_%s:%s:%s\\r\\033[0K${newLine}' ${word} "$(date +%s)" ${quoteForShell(name)}\n`;
}

/** The line that stands for a command in the log: its first one, with a remark where there are more. */
export function shownPart(text: string): { readonly first: string; readonly isCollapsed: boolean } {
  const end = text.indexOf("\n");
  if (end === -1) return { first: text, isCollapsed: false };
  return { first: `${text.slice(0, end)} # collapsed multi-line command`, isCollapsed: true };
}

/** The text as one word of a POSIX shell. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
