import { constants, copyFile, lstat, mkdir, readdir, readlink, symlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";

const AT_ONCE = 16;

/** Gives the paths of all files and links below a folder, relative to it, without repositories of git. */
export async function listFiles(root: string): Promise<string[]> {
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !/(?:^|\/)\.git(?:\/|$)/.test(path));
}

/**
 * Copies files to the same places below another folder: content, mode and time of change; links as links. A file that has gone
 * meanwhile is no error, and neither is a socket, a pipe or a device, which is left out. Gives the folders among the
 * paths, which are repositories of their own.
 */
export async function copyFiles(
  from: string,
  to: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const folders: string[] = [];
  const made = new Map<string, Promise<unknown>>();
  const makeFolder = (dir: string): Promise<unknown> => {
    const making = made.get(dir) ?? mkdir(dir, { recursive: true });
    made.set(dir, making);
    return making;
  };
  const queue = paths.values();
  const work = async (): Promise<void> => {
    for (const path of queue) {
      signal.throwIfAborted();
      await makeFolder(dirname(join(to, path)));
      if ((await copyOne(join(from, path), join(to, path))) === "folder") folders.push(path.replace(/\/$/, ""));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return folders;
}

async function copyOne(from: string, to: string): Promise<"folder" | "file" | "gone"> {
  const stat = await lstat(from).catch(isGone);
  if (stat === undefined) return "gone";
  if (stat.isDirectory()) return "folder";
  if (stat.isSymbolicLink()) await symlink(await readlink(from), to);
  else if (stat.isFile()) {
    // Shares the blocks where the file system can.
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    await utimes(to, stat.atime, stat.mtime);
  }
  return "file";
}

// Tracked by git, and removed from the working tree.
function isGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}
