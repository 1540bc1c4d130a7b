import { realpathSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";

/** Whether a path is a folder or lies in it, when all links are followed. Both must exist. @throws {Error} of the system */
export function isInside(folder: string, path: string): boolean {
  const inner = relative(realpathSync.native(folder), realpathSync.native(path));
  return inner !== ".." && !inner.startsWith(`..${sep}`) && !isAbsolute(inner);
}
