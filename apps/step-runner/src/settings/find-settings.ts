import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The name of the file with a project's own choices. */
const SETTINGS_FILE = ".step-runner.yml";

/**
 * Finds the file of a project: in the folder, or above it up to the top of its repository. Outside of a repository only the folder
 * itself is looked at, since the folders above it may be somebody else's.
 */
export function findSettings(folder: string): string | undefined {
  const found: string[] = [];
  for (let dir = folder; ; dir = dirname(dir)) {
    const path = join(dir, SETTINGS_FILE);
    if (existsSync(path)) found.push(path);
    if (existsSync(join(dir, ".git"))) return found[0];
    if (dirname(dir) === dir) break;
  }
  const own = join(folder, SETTINGS_FILE);
  return found.includes(own) ? own : undefined;
}
