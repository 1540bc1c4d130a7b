import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether a program of this name is on the PATH: `it.skipIf(!hasProgram("git"))`. */
export function hasProgram(name: string, path: string = process.env["PATH"] ?? ""): boolean {
  return path.split(delimiter).some((dir) => {
    try {
      accessSync(join(dir, name), constants.X_OK);
      return dir !== "";
    } catch {
      return false;
    }
  });
}
