import { lstatSync, statfsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { describeFolderError, folderProblem, isPrivateFolder, makePrivateFolder } from "@steps/platform";
import { EngineError } from "./engine-error.ts";

/** The directories of a runner for files that outlive a run. */
export interface Directories {
  /** The directory of fetched components. */
  readonly cache: string;
  /** The directory of the journals and logs of runs. */
  readonly state: string;
}

/**
 * The directories of a user by the XDG rules: `STEP_RUNNER_CACHE_DIR` or `$XDG_CACHE_HOME/step-runner/v1`,
 * `STEP_RUNNER_STATE_DIR` or `$XDG_STATE_HOME/step-runner/v1`. Relative values of the XDG variables are ignored, as XDG wants.
 */
export function userDirectories(env: Readonly<Record<string, string | undefined>>): Directories {
  const base = (value: string | undefined, fallback: string) =>
    join(value?.startsWith("/") ? value : join(homeOf(env), fallback), "step-runner", "v1");
  return {
    cache: env["STEP_RUNNER_CACHE_DIR"] || base(env["XDG_CACHE_HOME"], ".cache"),
    state: env["STEP_RUNNER_STATE_DIR"] || base(env["XDG_STATE_HOME"], ".local/state"),
  };
}

/** In a container a user may have neither the variable nor an entry in /etc/passwd; their home is the root then. */
function homeOf(env: Readonly<Record<string, string | undefined>>): string {
  try {
    return env["HOME"] || homedir();
  } catch {
    return "/";
  }
}

/** The hint for a state directory that cannot be used. */
const STATE_HINT = "Name another directory with --state-dir or STEP_RUNNER_STATE_DIR.";

/**
 * Makes a directory that only we may write to, whatever the umask, or takes one that is so. One that was there keeps its
 * mode, since others may be meant to look into it.
 *
 * @throws {EngineError} STATE_UNSAFE if it belongs to somebody else, others may write to it, or it is a link of somebody
 * else; STATE_UNUSABLE if it cannot be made
 */
export function privateDirectory(path: string): string {
  return withoutProblem(path, makeAndLook(path));
}

/**
 * Returns whether there is such a directory, which only we may write to. Makes none, so that what only reads needs no right to
 * write.
 *
 * @throws {EngineError} STATE_UNSAFE as for `privateDirectory()`; STATE_UNUSABLE if it cannot be looked at
 */
export function hasPrivateDirectory(path: string): boolean {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOTDIR") return false;
    throw new EngineError("STATE_UNUSABLE", `Cannot read "${path}": ${describeFolderError(cause)}`, {
      cause,
      hint: STATE_HINT,
    });
  }
  withoutProblem(path, isPrivateFolder(path) ? undefined : folderProblem(path));
  return true;
}

function withoutProblem(path: string, problem: string | undefined): string {
  if (problem === undefined) return path;
  throw new EngineError("STATE_UNSAFE", `Cannot use directory "${path}": ${problem}`, {
    hint: problem.startsWith("others") ? `Run chmod go-w ${path}, or name another directory.` : STATE_HINT,
  });
}

function makeAndLook(path: string): string | undefined {
  try {
    if (isPrivateFolder(path)) return undefined;
    makePrivateFolder(path);
    return folderProblem(path);
  } catch (cause) {
    throw stateFailure(path, cause);
  }
}

/**
 * Returns the error for a failure to write below the state directory. It names the place, the reason, the free room and a
 * remedy.
 */
export function stateFailure(path: string, cause: unknown): EngineError {
  const { code } = cause as NodeJS.ErrnoException;
  const isFull = code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG";
  // In the sentence itself, which becomes part of others that have no hint.
  const room = isFull ? `${roomAt(dirname(path))}; --state-dir or STEP_RUNNER_STATE_DIR names another place` : "";
  return new EngineError("STATE_UNUSABLE", `Cannot write "${path}": ${describeFolderError(cause)}${room}`, {
    cause,
    ...(isFull ? {} : { hint: STATE_HINT }),
  });
}

function roomAt(path: string): string {
  try {
    const { bavail, bsize } = statfsSync(path);
    return ` (${bavail * bsize} bytes are free)`;
  } catch {
    return "";
  }
}
