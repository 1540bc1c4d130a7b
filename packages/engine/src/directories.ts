import { chmodSync, mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { EngineError } from "./engine-error.ts";

/** Where a runner keeps what outlives a run. */
export interface Directories {
  /** Fetched components. */
  readonly cache: string;
  /** Journals and logs of runs. */
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
  } catch (cause) {
    void cause;
    return "/";
  }
}

/**
 * Makes a directory that only we may write to, or takes one that is so.
 *
 * @throws {EngineError} STATE_UNSAFE if it belongs to somebody else or others may write to it
 */
export function privateDirectory(path: string): string {
  const made = mkdirSync(path, { recursive: true, mode: 0o700 });
  const stat = statSync(path);
  const uid = process.getuid?.();
  if (uid !== undefined && stat.uid !== uid) {
    throw new EngineError("STATE_UNSAFE", `Cannot use directory "${path}": it belongs to user ${stat.uid}`);
  }
  if ((stat.mode & 0o022) !== 0) {
    throw new EngineError("STATE_UNSAFE", `Cannot use directory "${path}": others may write to it`, {
      hint: `Run chmod go-w ${path}, or name another directory.`,
    });
  }
  // The umask of the caller; a folder that was there keeps its mode, since others may be meant to look into it.
  if (made !== undefined && (stat.mode & 0o077) !== 0) chmodSync(path, 0o700);
  return path;
}
