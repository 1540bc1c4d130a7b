import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { chmod, lstat, mkdir, open, rm } from "node:fs/promises";
import { messageOf } from "@steps/model";
import { ServicesError, systemCode } from "../error.ts";
import { badRequest } from "../http/http-error.ts";

/** Absent where the system knows no links (Windows). */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

/** Makes a folder that nobody else may read, or accepts one of ours. */
export async function openPrivateFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const stats = await lstat(path);
    const isOurs = stats.isDirectory() && (process.getuid === undefined || stats.uid === process.getuid());
    if (!isOurs) throw new ServicesError("SERVICES_FOLDER", `Cannot use "${path}": it is not a folder of this user`);
    // Whoever may write here can put a cache under any key.
    if ((stats.mode & 0o022) !== 0) await chmod(path, stats.mode & 0o755);
  } catch (error) {
    if (error instanceof ServicesError) throw error;
    throw new ServicesError("SERVICES_FOLDER", `Cannot use folder "${path}": ${messageOf(error)}`, { cause: error });
  }
}

/** A new file to write and read, readable by nobody else. */
export async function createFile(path: string): Promise<FileHandle> {
  return await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW, 0o600);
}

/** A file to read that is a plain file, and no link to one; undefined when there is none. */
export async function openPlainFile(path: string): Promise<{ handle: FileHandle; size: number } | undefined> {
  let handle: FileHandle;
  try {
    // O_NONBLOCK: a pipe in the place of a file must not hold us until somebody writes to it.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | NO_FOLLOW);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "EMLINK", "ENXIO"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
  const stats = await handle.stat();
  if (stats.isFile()) return { handle, size: stats.size };
  await handle.close();
  return undefined;
}

/** Whether a path is a folder and no link to one. */
export async function isPlainFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (cause) {
    void cause;
    return false;
  }
}

/** Removes whatever is there; a link is removed, not followed. */
export async function removeAll(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

/** Writes a body of exactly `length` bytes from an offset on; the bytes go past memory, one chunk at a time. */
export async function writeBody(
  handle: FileHandle,
  body: AsyncIterable<Buffer>,
  options: { readonly start: number; readonly length: number; readonly onChunk?: (chunk: Buffer) => void },
): Promise<void> {
  let written = 0;
  for await (const chunk of body) {
    if (written + chunk.length > options.length) throw badRequest("The body is longer than it said");
    options.onChunk?.(chunk);
    await writeAll(handle, chunk, options.start + written);
    written += chunk.length;
  }
  if (written !== options.length) throw badRequest("The body is shorter than it said");
}

/** Writes all of a buffer at a position. */
export async function writeAll(handle: FileHandle, buffer: Buffer, position: number): Promise<void> {
  for (let offset = 0; offset < buffer.length;) {
    offset += (await handle.write(buffer, offset, buffer.length - offset, position + offset)).bytesWritten;
  }
}
