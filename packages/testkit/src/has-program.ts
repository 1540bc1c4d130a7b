import { accessSync, appendFileSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * Whether a program of this name is on the PATH: `it.skipIf(!hasProgram("git"))`. One that is not is named in the file
 * `STEPS_SKIPPED_FILE`, so that what was skipped is said at the end of the run.
 */
export function hasProgram(name: string, path: string = process.env["PATH"] ?? ""): boolean {
  const isThere = path.split(delimiter).some((dir) => dir !== "" && isExecutable(join(dir, name)));
  const file = process.env["STEPS_SKIPPED_FILE"];
  if (!isThere && file !== undefined) appendFileSync(file, `${name}\n`);
  return isThere;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
