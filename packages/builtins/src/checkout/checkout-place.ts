import { lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { BuiltinError } from "../builtin-error.ts";

/** The place in which a checkout runs, and the receiver of its messages. */
export interface CheckoutPlace {
  /** `GITHUB_*` and `CI_*` of the job, `PATH`, `HOME`, `RUNNER_TEMP`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute: the workspace, unless `GITHUB_WORKSPACE` names another. */
  readonly workDir: string;
  readonly log: (line: string) => void;
  /** For what the user should look at; without it, `log` gets the line. */
  readonly warn?: (line: string) => void;
  readonly setOutput: (name: string, value: string) => void;
  /** For `cleanUpCheckout()`. */
  readonly saveState?: (name: string, value: string) => void;
  readonly signal?: AbortSignal;
}

/** The absolute workspace of a checkout. */
export function workspaceOf({ env, workDir }: CheckoutPlace): string {
  const named = env["GITHUB_WORKSPACE"];
  return resolve(named !== undefined && isAbsolute(named) ? named : workDir);
}

/**
 * The folder that `path` names, made if it is not there. It is in the workspace, also when links are followed, and not in a `.git`.
 *
 * @throws {BuiltinError} BUILTIN_FAILED
 */
export function openTarget(workspace: string, path: string): string {
  const target = resolve(workspace, path);
  const inside = relative(workspace, target);
  if (!isInside(inside)) throw outside(path);
  if (inside.split(sep).some((part) => part.toLowerCase() === ".git")) {
    throw new BuiltinError("BUILTIN_FAILED", `Cannot check out into "${path}": it is in a folder of git`);
  }
  // The part of the path that already exists decides where a new folder would be.
  let existing = target;
  while (!isThere(existing)) existing = dirname(existing);
  const root = realpathSync(workspace);
  if (!isInside(relative(root, realOf(existing, path)))) throw outside(path);
  if (!statSync(existing).isDirectory()) {
    throw new BuiltinError("BUILTIN_FAILED", `Cannot check out into "${path}": "${existing}" is no folder`);
  }
  mkdirSync(target, { recursive: true });
  const real = realpathSync(target);
  if (!isInside(relative(root, real))) throw outside(path);
  return inside === "" ? workspace : join(workspace, relative(root, real));
}

/** Whether a folder has nothing in it. */
export function isEmptyFolder(folder: string): boolean {
  return readdirSync(folder).length === 0;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Below a file there is nothing.
    return false;
  }
}

function isInside(path: string): boolean {
  return path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function realOf(path: string, shown: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new BuiltinError("BUILTIN_FAILED", `Cannot check out into "${shown}": a link in it leads nowhere`, { cause });
  }
}

function outside(path: string): BuiltinError {
  return new BuiltinError("BUILTIN_FAILED", `Cannot check out into "${path}": it is outside of the workspace`);
}
