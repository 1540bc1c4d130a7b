import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Writes a file in one go: a reader sees the old content or the new one, never a part. A path that is not an ordinary
 * file, such as /dev/stdout, is written to as it is.
 */
export function writeWhole(path: string, text: string): void {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !there.isFile()) {
    writeFileSync(path, text);
    return;
  }
  const draft = join(dirname(path), `.${process.pid}-${Date.now()}.tmp`);
  const fd = openSync(draft, "wx", 0o640);
  try {
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
