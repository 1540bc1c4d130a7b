import { randomUUID } from "node:crypto";
import { mkdir, readdir, rmdir, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { formatIdentity, livenessOf, parseIdentity, processIdentity } from "@steps/platform";
import { systemCode } from "../error.ts";
import { isPlainFolder, openPrivateFolder, removeAll } from "./files.ts";

const HEARTBEAT_MS = 30_000;
/** A process that cannot be asked counts as gone after this many missed heartbeats. */
const STALE_MS = 20 * HEARTBEAT_MS;

/** The folder of one running service for what is not finished; that of a killed one is removed by the next. */
export interface WorkFolder {
  readonly path: string;
  /** A new folder in it. */
  readonly makeDir: (name?: string) => Promise<string>;
  /** Whether a service that runs elsewhere has something of this name in its own work folder. */
  readonly isElsewhere: (name: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Opens a work folder in `parent`, after removing those that dead processes left there. */
export async function openWorkFolder(parent: string, onBeat?: () => void): Promise<WorkFolder> {
  const own = `${formatIdentity(processIdentity())}.${randomUUID()}`;
  const path = join(parent, own);
  await makeIn(parent, path);
  await sweep(parent);
  const timer = setInterval(() => {
    const now = new Date();
    // The folder may have been removed by hand; the next upload will say so.
    utimes(path, now, now).catch(() => undefined);
    onBeat?.();
  }, HEARTBEAT_MS).unref();
  return {
    path,
    makeDir: async (name = randomUUID()) => {
      const dir = join(path, name);
      await mkdir(dir, { mode: 0o700 });
      return dir;
    },
    isElsewhere: async (name) => {
      for (const other of await readdir(parent)) {
        if (other === own || !(await isPlainFolder(join(parent, other, name)))) continue;
        if (await isInUse(parent, other)) return true;
      }
      return false;
    },
    close: async () => {
      clearInterval(timer);
      await removeAll(path);
      // Stays while others work there.
      await rmdir(parent).catch(() => undefined);
    },
  };
}

/** The last one to leave removes the parent, perhaps just when we come. */
async function makeIn(parent: string, path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await openPrivateFolder(parent);
    try {
      await mkdir(path, { mode: 0o700 });
      return;
    } catch (error) {
      if (systemCode(error) !== "ENOENT" || attempt === 10) throw error;
    }
  }
}

async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!(await isInUse(parent, name))) await removeAll(join(parent, name));
  }
}

async function isInUse(parent: string, name: string): Promise<boolean> {
  const owner = parseIdentity(name);
  // A folder from another boot may belong to another machine that shares the parent and has our name.
  const liveness = owner?.boot === processIdentity().boot ? livenessOf(owner) : "unknown";
  if (liveness !== "unknown") return liveness === "alive";
  try {
    return Date.now() - (await stat(join(parent, name))).mtimeMs < STALE_MS;
  } catch {
    return false;
  }
}
