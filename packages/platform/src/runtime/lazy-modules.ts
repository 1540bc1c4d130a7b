import type * as ChildProcess from "node:child_process";
import { fstatSync } from "node:fs";
import type * as Url from "node:url";

/** The system's memory devices, `/dev/null` among them (`major(3)`). */
const MEMORY_DEVICES = 1;

/** `spawn()` of `node:child_process`, which is loaded when it is called first: it and the streams in it are a tenth of a short command's time. */
export const spawn: typeof ChildProcess.spawn = ((...args: Parameters<typeof ChildProcess.spawn>) =>
  process.getBuiltinModule("node:child_process").spawn(...args)) as typeof ChildProcess.spawn;

/** `fileURLToPath()` of `node:url`, which is loaded when it is called first. */
export const fileURLToPath: typeof Url.fileURLToPath = (...args) =>
  process.getBuiltinModule("node:url").fileURLToPath(...args);

/** `pathToFileURL()` of `node:url`, which is loaded when it is called first. */
export const pathToFileURL: typeof Url.pathToFileURL = (...args) =>
  process.getBuiltinModule("node:url").pathToFileURL(...args);

/** Says whether a descriptor is a terminal, as `isatty()` of `node:tty` does, which is loaded only where one may be. */
export function hasTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    if (!stat.isCharacterDevice() || stat.rdev >>> 8 === MEMORY_DEVICES) return false;
  } catch {
    // It is closed.
    return false;
  }
  return process.getBuiltinModule("node:tty").isatty(fd);
}
