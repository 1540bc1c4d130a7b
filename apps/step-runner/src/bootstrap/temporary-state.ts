import { accessSync, constants, existsSync, lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

type Environment = Record<string, string | undefined>;

/**
 * Keeps journals and components in a private folder among the temporary files when the user's home cannot be written to.
 * That is usual in containers which run under a user id that has no account. Nothing changes when there is a home, when
 * variables name other places, or when the folder belongs to another user.
 */
export function useTemporaryState(env: Environment): void {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  const isStateNamed = (env["STEP_RUNNER_STATE_DIR"] || env["XDG_STATE_HOME"]) !== undefined;
  const isCacheNamed = (env["STEP_RUNNER_CACHE_DIR"] || env["XDG_CACHE_HOME"]) !== undefined;
  const home = env["HOME"] ?? "";
  const hasHome = isAbsolute(home) && isWritable(join(home, ".local/state")) && isWritable(join(home, ".cache"));
  if (hasHome || (isStateNamed && isCacheNamed)) return;
  const dir = join(tmpdir(), `step-runner-${uid}`);
  if (!isPrivate(dir, uid)) return;
  if (!isStateNamed) env["STEP_RUNNER_STATE_DIR"] = dir;
  if (!isCacheNamed) env["STEP_RUNNER_CACHE_DIR"] = join(dir, "cache");
}

/** Tells whether a path, or the nearest folder above it that there is, may be written to. */
function isWritable(path: string): boolean {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isPrivate(dir: string, uid: number): boolean {
  try {
    if (!existsSync(dir)) mkdirSync(dir, { mode: 0o700 });
    const stat = lstatSync(dir);
    return stat.isDirectory() && stat.uid === uid && (stat.mode & 0o022) === 0;
  } catch {
    // There are no temporary files either; what needs a folder says so.
    return false;
  }
}
