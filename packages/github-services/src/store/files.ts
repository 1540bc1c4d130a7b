import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { chmod, lstat, open, rm } from "node:fs/promises";
import { messageOf } from "@steps/model";
import { makePrivateFolder } from "@steps/platform";
import { ServicesError, systemCode } from "../error.ts";
import { badRequest } from "../http/http-error.ts";

/** Held in memory for one upload; large enough that the system calls do not count. */
const WRITE_BYTES = 256 * 1024;
/** Absent where the system knows no links (Windows). */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

/** Makes a folder that nobody else may read, or accepts one of ours. */
export async function openPrivateFolder(path: string): Promise<void> {
  try {
    makePrivateFolder(path);
    const stats = await lstat(path);
    // Root works in folders of others everywhere, in containers above all.
    const isOurs = stats.isDirectory() && [undefined, 0, stats.uid].includes(process.getuid?.());
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
  } catch {
    return false;
  }
}

/** Removes whatever is there; a link is removed, not followed. */
export async function removeAll(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

/**
 * Writes a body of exactly `length` bytes from an offset on. The bytes go past memory, a few chunks at a time: a write
 * for each would cost more than the bytes.
 */
export async function writeBody(
  handle: FileHandle,
  body: AsyncIterable<Buffer>,
  options: { readonly start: number; readonly length: number; readonly onChunk?: (chunk: Buffer) => void },
): Promise<void> {
  let [received, written] = [0, 0];
  let waiting: Buffer[] = [];
  const flush = async (): Promise<void> => {
    const chunks = waiting;
    waiting = [];
    const [only] = chunks;
    const buffer = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
    await writeAll(handle, buffer, options.start + written);
    written += buffer.length;
  };
  for await (const chunk of body) {
    received += chunk.length;
    if (received > options.length) throw badRequest("The body is longer than it said");
    options.onChunk?.(chunk);
    waiting.push(chunk);
    if (received - written >= WRITE_BYTES) await flush();
  }
  if (received !== options.length) throw badRequest("The body is shorter than it said");
  await flush();
}

/** Writes all of a buffer at a position. */
export async function writeAll(handle: FileHandle, buffer: Buffer, position: number): Promise<void> {
  for (let offset = 0; offset < buffer.length;) {
    offset += (await handle.write(buffer, offset, buffer.length - offset, position + offset)).bytesWritten;
  }
}
