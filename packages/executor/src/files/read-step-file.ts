import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";

/** The most that a step may write to its output file or its export file. */
const MAX_FILE_BYTES: number = 64 * 1024 * 1024;

const EMPTY: Buffer = Buffer.alloc(0);

/** The content of a file that a step wrote, or what is wrong with the file. */
export type StepFileContent = { readonly content: Buffer } | { readonly problem: string };

/**
 * Reads a file that a step could do anything to: only a regular file is read, links are not followed, nothing blocks,
 * and a file above 64 MiB is refused rather than cut.
 */
export function readStepFile(path: string, maxBytes: number = MAX_FILE_BYTES): StepFileContent {
  // Most steps write nothing.
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() === true && stat.size === 0) return { content: EMPTY };
  let fd: number;
  try {
    // A fifo in place of the file must not hang us, a link must not lead us elsewhere.
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    return { problem: problemOfOpen((error as NodeJS.ErrnoException).code ?? "") };
  }
  try {
    if (!fstatSync(fd).isFile()) return { problem: "the file was replaced by something else" };
    return readAll(fd, maxBytes);
  } catch (error) {
    return { problem: `the file cannot be read: ${(error as NodeJS.ErrnoException).code ?? "unknown"}` };
  } finally {
    closeSync(fd);
  }
}

function problemOfOpen(code: string): string {
  if (code === "ENOENT") return "the file was removed";
  if (code === "ELOOP") return "the file was replaced by a symbolic link";
  return code === "ENXIO" ? "the file was replaced by something else" : `the file cannot be opened: ${code}`;
}

function readAll(fd: number, maxBytes: number): StepFileContent {
  const { size } = fstatSync(fd);
  if (size > maxBytes) return { problem: tooLarge(maxBytes) };
  // One more than there should be, since a process that got away may still be writing.
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const count = readSync(fd, buffer, length, buffer.byteLength - length, null);
    if (count === 0) return { content: buffer.subarray(0, length) };
    length += count;
    if (length > maxBytes) return { problem: tooLarge(maxBytes) };
    if (length === buffer.byteLength) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(length + 64 * 1024)]);
  }
}

function tooLarge(maxBytes: number): string {
  return `the file is larger than ${Math.floor(maxBytes / (1024 * 1024))} MiB`;
}
