import { open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { formatIdentity, livenessOf, parseIdentity, processIdentity, sha256 } from "@steps/platform";
import { systemCode, throwIfCancelled } from "@steps/transfer";
import type { Layout } from "./layout.ts";
import { uniquePath } from "./layout.ts";

const HEARTBEAT_MS = 5_000;
const STALE_MS = 30_000;
/** A lock without its owner's name: its maker was killed between two system calls. */
const UNNAMED_STALE_MS = 2_000;
const FIRST_POLL_MS = 50;
const LAST_POLL_MS = 500;

/**
 * Runs a function while holding a lock among all processes that use the cache. Locks only save double work: what is
 * published is right with or without them, so taking over a lock whose owner seems gone harms nobody.
 */
export async function withLock<T>(
  layout: Layout,
  key: string,
  options: { readonly signal?: AbortSignal | undefined; readonly run: () => Promise<T> },
): Promise<T> {
  const path = lockPath(layout, key);
  for (let pollMs = FIRST_POLL_MS; !(await take(path)); pollMs = Math.min(pollMs * 2, LAST_POLL_MS)) {
    throwIfCancelled(options.signal);
    if (await isStale(path)) await steal(layout, path);
    else await pause(pollMs, options.signal);
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    // Taken over while we were held up: the new owner's work is as good as ours.
    utimes(path, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  heartbeat.unref();
  try {
    return await options.run();
  } finally {
    clearInterval(heartbeat);
    await release(path);
  }
}

/** Runs a function while holding a lock, unless somebody holds it. Gives whether it ran. */
export async function tryLock(layout: Layout, key: string, run: () => Promise<void>): Promise<boolean> {
  const path = lockPath(layout, key);
  if (await isStale(path)) await steal(layout, path);
  if (!(await take(path))) return false;
  try {
    await run();
    return true;
  } finally {
    await release(path);
  }
}

/** Removes the locks of processes that are gone. */
export async function sweepLocks(layout: Layout): Promise<void> {
  for (const name of await readdir(layout.locks)) {
    const path = join(layout.locks, name);
    if (await isStale(path)) await steal(layout, path);
  }
}

/** The lock that guards a repository's object stores. */
export function storeLock(location: string): string {
  return `git-${sha256(location)}`;
}

function lockPath(layout: Layout, key: string): string {
  return join(layout.locks, /^git-[0-9a-f]{64}$/.test(key) ? key : sha256(key));
}

async function take(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(formatIdentity(processIdentity()));
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, "utf8"), stat(path)]);
    const ageMs = Date.now() - mtimeMs;
    const owner = parseIdentity(text);
    if (owner === undefined) return ageMs > UNNAMED_STALE_MS;
    const liveness = livenessOf(owner);
    return liveness === "gone" || (liveness === "unknown" && ageMs > STALE_MS);
  } catch (error) {
    // Released in between: the next attempt takes it.
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

async function steal(layout: Layout, path: string): Promise<void> {
  const aside = uniquePath(layout.trash);
  try {
    await rename(path, aside);
    await rm(aside, { force: true });
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

async function release(path: string): Promise<void> {
  const text = await readFile(path, "utf8").catch(() => "");
  if (text === formatIdentity(processIdentity())) await rm(path, { force: true });
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => throwIfCancelled(signal));
}
