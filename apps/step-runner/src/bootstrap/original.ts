import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { ownCommand } from "@steps/platform/runtime";
import type { Start } from "./start.ts";

/** The variable that names GitLab's own program. */
export const ORIGINAL_VARIABLE = "GITLAB_RUNNER_HELPER_ORIGINAL";
/** Set to our process id while another program is in our place, which would otherwise start us again for ever. */
const PASSED_VARIABLE = "_STEP_RUNNER_PASSED_ON";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Finds the program of GitLab in whose place we were called, for what we do not do ourselves: the one that the environment
 * names, the one beside us with `.original` after its name, or the next one of that name on the PATH.
 */
export function findOriginal({ name, launcher }: Start, env: Environment): string | undefined {
  if (env[PASSED_VARIABLE] === String(process.pid)) return undefined;
  const given = env[ORIGINAL_VARIABLE];
  if (given !== undefined && given !== "") return resolve(given);
  const self = launcher ?? ownCommand().at(-1) ?? "";
  const own = new Set([self, ...ownCommand()].map(real));
  const folders = (env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  return [join(dirname(self), `${name}.original`), ...folders.map((folder) => join(folder, name))].find(
    (path) => isProgram(path) && !own.has(real(path)),
  );
}

/** Becomes another program: same process, same files, its exit status. */
export function becomeOriginal(path: string, args: readonly string[], env: Environment): never {
  const kept = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  if (process.execve === undefined) throw new Error(`This Node cannot start "${path}" in its place`);
  return process.execve(path, [path, ...args], {
    ...Object.fromEntries(kept),
    [PASSED_VARIABLE]: String(process.pid),
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
