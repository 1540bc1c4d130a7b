import { isAbsolute, join, relative, sep } from "node:path";
import { ExecuteError, type OpenedStep, type Run } from "@steps/executor/kit";

/**
 * Returns the absolute path of a file that an action names: in its repository, or in the workspace for an action that lies there.
 *
 * @throws {ExecuteError} REFERENCE_INVALID
 */
export function pathInAction(run: Run, { dir, root }: Pick<OpenedStep, "dir" | "root">, file: string): string {
  const { workDir } = run.job;
  const path = join(dir, file);
  const bounds = root ?? (isBelow(workDir, dir) ? workDir : dir);
  if (!isAbsolute(file) && isBelow(bounds, path)) return path;
  throw new ExecuteError("REFERENCE_INVALID", `exec: the file "${file}" of the action is outside of its repository`);
}

function isBelow(folder: string, path: string): boolean {
  const inner = relative(folder, path);
  return inner !== ".." && !inner.startsWith(`..${sep}`) && !isAbsolute(inner);
}
