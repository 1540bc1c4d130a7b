import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { formatIdentity, livenessOf, parseIdentity, processIdentity } from "@steps/platform";
import { systemCode } from "@steps/transfer";
import type { Layout } from "./layout.ts";

/** A lease of a process that cannot be seen from here counts this long. */
const FOREIGN_LEASE_MS = 24 * 60 * 60 * 1000;

/** The trees that one cache object holds, so that nobody collects them. */
export interface Leases {
  /** Synchronous: it is on the way of every resolve. */
  hold(layout: Layout, gitTree: string): void;
  release(): Promise<void>;
}

export function createLeases(): Leases {
  const held = new Map<string, string>();
  const name = `${formatIdentity(processIdentity())}.${randomBytes(6).toString("hex")}`;
  return {
    hold(layout, gitTree) {
      const dir = join(layout.leases, gitTree);
      if (held.has(dir)) return;
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      // The new file also moves the folder's time on, which is the mark of the last use.
      const path = join(dir, name);
      writeFileSync(path, "", { mode: 0o600 });
      held.set(dir, path);
    },
    async release() {
      const paths = [...held.values()];
      held.clear();
      await Promise.all(paths.map((path) => rm(path, { force: true })));
    },
  };
}

/** Whether a running process holds a tree, and when it was last taken. Leases of processes that are gone are removed. */
export async function leaseState(
  layout: Layout,
  gitTree: string,
): Promise<{ readonly isLeased: boolean; readonly lastUsedAt: number }> {
  const dir = join(layout.leases, gitTree);
  try {
    const { mtime } = await stat(dir);
    let isLeased = false;
    let removed = 0;
    for (const name of await readdir(dir)) {
      if (await isLive(join(dir, name), name)) isLeased = true;
      else {
        await rm(join(dir, name), { force: true });
        removed += 1;
      }
    }
    if (removed > 0) await utimes(dir, mtime, mtime);
    return { isLeased, lastUsedAt: mtime.getTime() };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return { isLeased: false, lastUsedAt: 0 };
    throw error;
  }
}

async function isLive(path: string, name: string): Promise<boolean> {
  const owner = parseIdentity(name);
  if (owner === undefined) return false;
  const liveness = livenessOf(owner);
  if (liveness !== "unknown") return liveness === "alive";
  const { mtimeMs } = await stat(path);
  return Date.now() - mtimeMs < FOREIGN_LEASE_MS;
}
