import { chmodSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it that are missing, for their owner alone whatever the umask. (Node's own way to make
 * several tries for ever where the file system says that there is no such folder, as /proc does.)
 */
export function makePrivateFolder(path: string): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makePrivateFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another one was faster.
    if (isFolder(path)) return;
    throw error;
  }
  chmodSync(path, 0o700);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
