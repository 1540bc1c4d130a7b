import { accessSync, constants, writeFileSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Value } from "@steps/model";
import { VARIABLES_VARIABLE } from "./specs/builtin-specs.ts";
import { BuiltinError } from "./builtin-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Inputs = Readonly<Record<string, Value>>;

/**
 * Becomes the shell that runs the lines of a job's `script:`, as GitLab's runner does it: in one shell, each line printed
 * before it is run, all job variables in the environment, and what earlier scripts wrote to `$GITLAB_ENV`.
 *
 * @throws {BuiltinError} BUILTIN_FAILED
 */
export function becomeScript(inputs: Inputs, env: Environment): never {
  const file = env["STEP_OUTPUT_FILE"];
  if (file === undefined || process.execve === undefined)
    throw new BuiltinError("BUILTIN_FAILED", "Cannot run a script: this is no process of a step");
  const variables = JSON.parse(env[VARIABLES_VARIABLE] ?? "{}") as Record<string, string>;
  const own = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || name === VARIABLES_VARIABLE ? [] : [[name, value] as const],
  );
  const given = Object.entries(variables).map(([name, value]) => [name, value] as const);
  const shellEnv = Object.fromEntries([...own, ...given.filter(([name]) => name !== "" && !/[=\0]/.test(name))]);
  const script = legacyScript(inputs, variables["RUNNER_TEMP_PROJECT_DIR"]);
  // The file of outputs is the step's own, and goes with the run; so does what is beside it under its name.
  const path = `${file}.script`;
  writeFileSync(path, script, { mode: 0o600, flag: "wx" });
  const shell = findShell(shellEnv["PATH"] ?? "");
  return process.execve(shell, [shell, path], shellEnv);
}

const PLACES = ["/usr/local/bin", "/usr/bin", "/bin"];

function findShell(path: string): string {
  const folders = [...path.split(delimiter).filter(isAbsolute), ...PLACES];
  for (const name of ["bash", "sh"]) {
    const found = folders.map((folder) => join(folder, name)).find(isProgram);
    if (found !== undefined) return found;
  }
  throw new BuiltinError("BUILTIN_FAILED", "Cannot run a script: there is neither bash nor sh", {
    hint: "Use an image with a shell, or run: with steps that need none.",
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const CHECK = '_runner_exit_code=$?; if [ "$_runner_exit_code" -ne 0 ]; then exit "$_runner_exit_code"; fi';

/** The text that the shell runs. `tempDir` is the project's temporary folder, where the file of `$GITLAB_ENV` is. */
export function legacyScript(inputs: Inputs, tempDir: Value | undefined): string {
  const rows = ["if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi", "set -o errexit", "set +o noclobber"];
  if (typeof tempDir === "string" && tempDir !== "") {
    const file = quote(`${tempDir}/gitlab_runner_env`);
    rows.push(`export GITLAB_ENV=${file}`);
    rows.push(`if [ -f ${file} ]; then while read -r line; do export "$line" || true; done < ${file}; fi`);
  }
  if (inputs["debug_trace"] === true) rows.push("set -o xtrace");
  const lines = Array.isArray(inputs["script"]) ? inputs["script"] : [];
  if (lines.length === 0) throw new BuiltinError("BUILTIN_FAILED", "Cannot run a script: it has no lines");
  for (const [at, line] of lines.entries()) {
    const text = (typeof line === "string" ? line : JSON.stringify(line)).trim();
    rows.push(...(text === "" ? ["echo"] : lineOf(text, at, inputs)));
  }
  return `${rows.join("\n")}\n`;
}

function lineOf(text: string, at: number, inputs: Inputs): string[] {
  const [first = "", ...rest] = text.split("\n");
  const shown = `\u001b[32;1m$ ${first}${rest.length === 0 ? "" : " # collapsed multi-line command"}\u001b[0;m`;
  const check = inputs["check_for_errors"] === true ? [CHECK] : [];
  if (rest.length === 0 || inputs["trace_sections"] !== true) return [`printf '%s\\n' ${quote(shown)}`, text, ...check];
  const section = `script_step_${at}`;
  const mark = (word: string, after: string): string =>
    `printf '\\033[0Ksection_%s:%s:%s\\r\\033[0K%s\\n' ${word} "$(date +%s)" ${after}`;
  return [
    mark("start", `'${section}[hide_duration=true,collapsed=true]' ${quote(shown)}`),
    text,
    ...check,
    mark("end", `${section} ''`),
  ];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
