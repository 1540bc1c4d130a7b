import { createHash } from "node:crypto";
import { createReadStream, lstatSync, readFileSync, rmSync } from "node:fs";
import { chmod, mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode, throwIfCancelled } from "@steps/transfer";
import { CacheError } from "../cache-error.ts";
import type { Layout } from "../store/layout.ts";
import { blobPath, uniquePath } from "../store/layout.ts";

/** An archive that has arrived, before it is known whether its bytes are the right ones. */
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

/** The content of a small archive that is here and what its name says; a damaged one is removed. */
export function readBlob(layout: Layout, sha256: string, maxBytes: number): Buffer | undefined {
  const path = blobPath(layout, sha256);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const content = stats.isFile() && stats.size <= maxBytes ? readFileSync(path) : undefined;
  if (content !== undefined && createHash("sha256").update(content).digest("hex") === sha256) return content;
  rmSync(path, { recursive: true, force: true });
  return undefined;
}

/** Notes that an archive was used, so that others are collected before it. */
export async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now);
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
