import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { messageOf } from "@steps/model";
import { makePrivateFolder } from "@steps/platform";
import { type Database, DatabaseError } from "./database.ts";
import { lockFolder } from "./folder-lock.ts";
import { makeData } from "./make-data.ts";
import { pgliteSession } from "./pglite-session.ts";

/** The memory for parts of the files. PostgreSQL's own 128 MB were half of the memory of a pod, and the system keeps files, too. */
const SHARED_BUFFERS = "32MB";

/**
 * Opens the embedded database below a folder, and makes it the first time. One process at a time may have it open.
 *
 * @throws {DatabaseError}
 */
export async function openPglite(folder: string): Promise<Database> {
  makePrivateFolder(folder);
  const lock = lockFolder(join(folder, "pod.lock"));
  // PGlite itself would let two processes write to the same files.
  if ("owner" in lock)
    throw new DatabaseError("DATABASE_INVALID", `Process ${lock.owner} has the database in "${folder}" open`, {
      hint: "Another --state-dir is another pod; processes that serve one pod share a PostgreSQL: --database postgres://…",
    });
  try {
    const dataDir = join(folder, "data");
    await makeData(folder, dataDir);
    return await open(dataDir, lock.release);
  } catch (error) {
    lock.release();
    const message = `The database in "${folder}" cannot be opened: ${messageOf(error)}`;
    throw new DatabaseError("DATABASE_INVALID", message, { cause: error });
  }
}

async function open(dataDir: string, release: () => void): Promise<Database> {
  // The system has what a statement wrote before it is answered, so that it outlives the process in any case.
  const startParams = [...PGlite.defaultStartParams, "-c", `shared_buffers=${SHARED_BUFFERS}`];
  const pglite = await PGlite.create({ dataDir, relaxedDurability: true, startParams });
  const listeners = new Set<(text: string) => void>();
  return {
    kind: "embedded",
    ...pgliteSession(pglite),
    hint(text) {
      for (const listener of listeners) queueMicrotask(() => listener(text));
    },
    onHint: (listener) => void listeners.add(listener),
    async close() {
      await pglite.close();
      release();
    },
  };
}
