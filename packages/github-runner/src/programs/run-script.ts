import {
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { ExecuteError, type Run, type StepEnd } from "@steps/executor/kit";
import { evaluateText, parseShell } from "@steps/github-language";
import type { ExecDefinition } from "@steps/model/definition";
import type { EnvironmentRecord } from "@steps/model/environment";
import { findProgram } from "@steps/platform/processes";
import type { ActionCommand } from "../process/action-command.ts";
import { runActionProcess } from "../process/action-process.ts";
import { type ActionScope, evaluationOf } from "../job/action-scope.ts";
import { removeAny } from "../job/remove-any.ts";
import { commandInContainer } from "../containers/command-in-container.ts";

/** Runs a `run:` item: a text in a shell. */
export async function runScript(
  run: Run,
  scope: ActionScope,
  { definition, id }: { readonly definition: ExecDefinition; readonly id: string },
): Promise<StepEnd> {
  const evaluation = evaluationOf(run, scope, { id });
  const script = evaluateText(definition.github?.script ?? "", evaluation);
  const shell = evaluateText(definition.command[0] ?? "{0}", evaluation);
  const folder = evaluateText(definition.workDir ?? "", evaluation);
  const { container } = scope.job;
  const named = resolve(run.job.workDir, folder);
  // A folder that only the container has cannot be looked for here.
  const workDir = container === undefined ? findFolder(named) : named;
  const command = (env: EnvironmentRecord): ActionCommand => {
    if (container !== undefined) {
      const words = placeScript(run, scope, { script, shell: isUnset(shell) ? "sh" : shell, hasBash: false });
      return commandInContainer(run, container, { command: words, workDir, env, environment: scope.environment });
    }
    const place = { path: env["PATH"] === undefined ? undefined : String(env["PATH"]), workDir };
    const program = isUnset(shell) ? findProgram("bash", place) : undefined;
    const words = placeScript(run, scope, { script, shell, hasBash: program !== undefined });
    return { command: words, workDir, env, ...(words[0] === "bash" && program !== undefined ? { program } : {}) };
  };
  const stepDir = scope.action.dir ?? run.job.workDir;
  return runActionProcess(run, { scope, id, env: {}, state: new Map(), stepDir, command });
}

function findFolder(path: string): string {
  if (!path.includes("\0") && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new ExecuteError("WORK_DIR_MISSING", `exec: the working directory "${path}" does not exist`);
}

function isUnset(shell: string): boolean {
  return shell === "{0}" || shell === "";
}

// The file has the same name in every run. One process runs at a time, or one in each branch.
function placeScript(
  { branch }: Run,
  scope: ActionScope,
  { script, shell, hasBash }: { readonly script: string; readonly shell: string; readonly hasBash: boolean },
): string[] {
  const template = isUnset(shell) ? undefined : shell;
  const { command, extension, prepend, append } = parseShell(template, { hasBash, platform: process.platform });
  const dir = join(scope.job.dirs.temp, "_scripts");
  prepareFolder(dir);
  const file = join(dir, `${(branch ?? "script").replaceAll("/", ".")}${extension}`);
  removeAny(file);
  const fd = openSync(file, "wx", 0o600);
  try {
    writeFileSync(fd, `${prepend}${script}${append}`);
    // A container may have another user; see createDirs().
    fchmodSync(fd, 0o644);
  } finally {
    closeSync(fd);
  }
  return command.map((word: string) => word.replaceAll("{0}", file));
}

// A step may have put a link there, and we would write to the place that it leads to.
function prepareFolder(dir: string): void {
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() === true) return;
  rmSync(dir, { force: true });
  mkdirSync(dir, { mode: 0o700 });
  const fd = openSync(dir, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  fchmodSync(fd, 0o755);
  closeSync(fd);
}
