import { lstatSync, readFileSync } from "node:fs";
import { mkdir, readdir, rename, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "@steps/transfer";
import type { Layout } from "../store/layout.ts";
import { uniquePath } from "../store/layout.ts";
import { discard, removeTree } from "../store/remove.ts";

const CONFIG = {
  sha1: "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
  sha256: "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n",
} as const;

// isomorphic-git wants to know where fetched branches go.
const REMOTE = '[remote "origin"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n';

/** Makes an empty bare repository. It needs no program, so both ways to speak git can use it. */
export async function createStore(dir: string, algorithm: "sha1" | "sha256" = "sha1"): Promise<void> {
  for (const folder of ["objects/pack", "objects/info", "refs/heads", "refs/tags"]) {
    await mkdir(join(dir, folder), { recursive: true, mode: 0o700 });
  }
  await writeFile(join(dir, "HEAD"), "ref: refs/heads/main\n");
  await writeFile(join(dir, "config"), CONFIG[algorithm] + REMOTE);
}

/**
 * Returns the reason for which git must not be started in a store, or `undefined` if there is none: a step may have
 * written to it, and git runs programs that a repository's own configuration names.
 */
function storeProblem(dir: string): string | undefined {
  if (lstatSync(join(dir, "commondir"), { throwIfNoEntry: false }) !== undefined)
    return "it refers to another repository";
  const config = readFileSync(join(dir, "config"), "utf8");
  return Object.values(CONFIG).some((own) => config === own + REMOTE) ? undefined : "its configuration is not ours";
}

/** Whether there is a store that may be used; one that may not be is thrown away. */
export async function isUsableStore(layout: Layout, dir: string): Promise<boolean> {
  try {
    if (storeProblem(dir) === undefined) return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT" && lstatSync(dir, { throwIfNoEntry: false }) === undefined) return false;
  }
  await discard(layout, dir);
  return false;
}

/** Makes a store at its place unless it is there; it appears there complete. Gives whether it was there. */
export async function ensureStore(layout: Layout, dir: string, algorithm: "sha1" | "sha256"): Promise<boolean> {
  if (await isUsableStore(layout, dir)) {
    const now = new Date();
    await utimes(dir, now, now);
    return true;
  }
  const staging = uniquePath(layout.tmp);
  await createStore(staging, algorithm);
  try {
    await rename(staging, dir);
    return false;
  } catch (error) {
    await removeTree(staging);
    if (systemCode(error) !== "EEXIST" && systemCode(error) !== "ENOTEMPTY") throw error;
    return true;
  }
}

/** The bytes of a store's packs, finished or not. */
export async function packedBytes(store: string): Promise<number> {
  const folder = join(store, "objects/pack");
  try {
    const names = await readdir(folder);
    // git renames its temporary files while we look.
    const sizes = names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return 0;
    throw error;
  }
}
