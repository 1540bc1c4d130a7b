import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HttpError } from "../../http/http-error.ts";
import type { ArtifactStore } from "./artifact-store.ts";

/** A file that is being received grows; one that did not for so long was left by a process that was killed. */
const LEFT_AFTER_MS = 24 * 3600 * 1000;

/** Artifacts in a folder of this machine. What is not kept yet is in `incoming`. */
export function fileStore(folder: string): ArtifactStore {
  const incoming = join(folder, "incoming");
  mkdirSync(incoming, { recursive: true, mode: 0o700 });
  return {
    async begin(object) {
      const path = join(incoming, randomUUID());
      const file = await open(path, "wx", 0o600);
      return {
        write: async (bytes) => await file.writeFile(bytes),
        async keep() {
          await file.sync();
          await file.close();
          const target = join(folder, object);
          await mkdir(dirname(target), { recursive: true, mode: 0o700 });
          await rename(path, target);
          await syncFolder(dirname(target));
        },
        async discard() {
          await file.close().catch(() => undefined);
          await rm(path, { force: true }).catch(() => undefined);
        },
      };
    },
    async read(object, range) {
      return (await openObject(join(folder, object))).createReadStream({ ...range });
    },
    link: () => Promise.resolve(undefined),
    remove: async (object) => await rm(join(folder, object), { force: true }),
    async tidy() {
      for (const name of await readdir(incoming)) {
        const path = join(incoming, name);
        const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
        if (Date.now() - mtimeMs > LEFT_AFTER_MS) await rm(path, { force: true });
      }
    },
  };
}

async function openObject(path: string): ReturnType<typeof open> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new HttpError(404, "404 Not found");
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, "r");
  await folder.sync();
}
