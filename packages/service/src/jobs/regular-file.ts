import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

const { O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Opens a file of ours. Steps run as the same user and may have put something else in its place: no link is followed, and
 * a pipe without somebody at its other end does not stop the service.
 *
 * @throws the system's error, or one that says that it is no file
 */
export function openRegularFile(path: string, flags: number): number {
  const fd = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600);
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new Error("not a file");
}

/** The text of a file of ours. @throws as above, and for one that is larger */
export function readRegularFile(path: string, maxBytes: number): string {
  const fd = openRegularFile(path, constants.O_RDONLY);
  try {
    const { size } = fstatSync(fd);
    if (size > maxBytes) throw new Error(`it has ${size} bytes`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** The same; `undefined` if there is no such file. */
export function readOptionalFile(path: string, maxBytes: number): string | undefined {
  try {
    return readRegularFile(path, maxBytes);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
}
