import { type Dir, type Dirent, lstatSync, type Stats } from "node:fs";
import { chmod, lchown, lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

/** A user by number, with the group. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

const MAX_PROBLEMS = 5;

/** The owner of a file. @throws the error of the system */
export function ownerOf(path: string): Owner {
  const { uid, gid } = lstatSync(path);
  return { uid, gid };
}

/** Gives folders with all that is in them to a user; links are given, not what they lead to. Returns what could not be done. */
export async function giveTo(owner: Owner, folders: readonly string[]): Promise<readonly string[]> {
  return forAll(folders, async (path, stats) => {
    if (stats.uid !== owner.uid || stats.gid !== owner.gid) await lchown(path, owner.uid, owner.gid);
  });
}

/** Lets everybody write in folders, and read what is in them. Returns what could not be done. */
export async function openToAll(folders: readonly string[]): Promise<readonly string[]> {
  return forAll(folders, async (path, stats) => {
    if (stats.isSymbolicLink()) return;
    const wanted = (stats.mode & 0o7777) | (stats.isDirectory() ? 0o777 : 0o444);
    if (wanted !== (stats.mode & 0o7777)) await chmod(path, wanted);
  });
}

async function forAll(
  folders: readonly string[],
  act: (path: string, stats: Stats) => Promise<void>,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const note = (error: unknown): void => {
    // A file that is gone in the meantime needs nothing.
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || problems.length >= MAX_PROBLEMS) return;
    problems.push(error instanceof Error ? error.message : String(error));
  };
  const open = [...folders];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    try {
      const stats = await lstat(path);
      await act(path, stats);
      if (stats.isDirectory()) for (const name of await namesIn(path)) open.push(join(path, name));
    } catch (error) {
      note(error);
    }
  }
  return problems;
}

async function namesIn(path: string): Promise<string[]> {
  const names: string[] = [];
  const dir: Dir = await opendir(path);
  for await (const entry of dir as AsyncIterable<Dirent>) names.push(entry.name);
  return names;
}
