import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "./usage-error.ts";

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

/** Says before anything runs that a file could not be written afterwards. @throws {UsageError} */
export function assertWritable(path: string): void {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.isDirectory() === true) throw new UsageError(`Cannot write "${path}": it is a folder`);
  if (there !== undefined && !there.isFile()) return;
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`Cannot write "${path}": there is no folder "${folder}"`);
  }
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    throw new UsageError(`Cannot write "${path}": the folder "${folder}" may not be written to`);
  }
}
