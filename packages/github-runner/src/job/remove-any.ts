import { rmSync, unlinkSync } from "node:fs";

/** Removes whatever is at a path, if something is: a step may have made a folder of a file. */
export function removeAny(path: string): void {
  try {
    // All that is there in nearly all cases is a file, for which this is the shortest way.
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") rmSync(path, { recursive: true, force: true });
  }
}
