import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CacheError, systemCode, throwIfCancelled } from "../error.ts";
import type { Layout } from "../store/layout.ts";
import { blobPath, uniquePath } from "../store/layout.ts";

/** Bytes that came, before it is known whether they are the right ones. */
export interface Received {
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * Writes an archive into the cache while hashing it. It takes its place only when `accept` does not throw; its place is
 * its digest, so whoever comes second changes nothing.
 */
export async function storeBlob(
  layout: Layout,
  content: AsyncIterable<Uint8Array>,
  options: {
    readonly maxBytes: number;
    readonly signal?: AbortSignal | undefined;
    readonly accept: (received: Received) => void;
  },
): Promise<Received> {
  const temporary = uniquePath(layout.tmp);
  try {
    const received = await receive(temporary, content, options);
    options.accept(received);
    const target = blobPath(layout, received.sha256);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await chmod(temporary, 0o444);
    await rename(temporary, target);
    return received;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function receive(
  path: string,
  content: AsyncIterable<Uint8Array>,
  options: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<Received> {
  const hash = createHash("sha256");
  const file = await open(path, "wx", 0o600);
  let bytes = 0;
  try {
    for await (const chunk of content) {
      throwIfCancelled(options.signal);
      bytes += chunk.byteLength;
      if (bytes > options.maxBytes) {
        throw new CacheError("ARCHIVE_TOO_LARGE", `Cannot fetch archive: it is larger than ${options.maxBytes} bytes`);
      }
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.datasync();
  } finally {
    await file.close();
  }
  return { sha256: hash.digest("hex"), bytes };
}

/** Whether an archive is here and still what its name says; a damaged one is removed. */
export async function hasBlob(layout: Layout, sha256: string): Promise<boolean> {
  const path = blobPath(layout, sha256);
  const found = await hashFile(path);
  if (found === undefined) return false;
  if (found.sha256 === sha256) return true;
  await rm(path, { force: true });
  return false;
}

/** Hashes a file; `undefined` when it is not there. */
export async function hashFile(path: string): Promise<Received | undefined> {
  try {
    if (!(await stat(path)).isFile()) return undefined;
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      hash.update(chunk);
    }
    return { sha256: hash.digest("hex"), bytes };
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}
