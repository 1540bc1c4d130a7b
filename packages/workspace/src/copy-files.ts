import { constants, copyFile, lstat, mkdir, readdir, readlink, symlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";

const AT_ONCE = 16;

/** Gives the paths of all files and links below a folder, relative to it, without repositories of git and the folder `except`. */
export async function listFiles(
  root: string,
  { except, signal }: { readonly except: string; readonly signal: AbortSignal },
): Promise<string[]> {
  const folders = [""];
  const files: string[] = [];
  // The list grows while it is walked.
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name === ".git" || join(root, path) === except) continue;
      if (entry.isDirectory()) folders.push(path);
      else files.push(path);
    }
    signal.throwIfAborted();
  }
  return files;
}

/** The signal that stops the copying of files, and the listener to its progress. */
interface CopyOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: { readonly files: number; readonly of: number }) => void) | undefined;
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
  { signal, onProgress }: CopyOptions,
): Promise<string[]> {
  const folders: string[] = [];
  const made = new Map<string, Promise<unknown>>();
  const makeFolder = (dir: string): Promise<unknown> => {
    const making = made.get(dir) ?? mkdir(dir, { recursive: true });
    made.set(dir, making);
    return making;
  };
  const queue = paths.values();
  let files = 0;
  const work = async (): Promise<void> => {
    for (const path of queue) {
      signal.throwIfAborted();
      onProgress?.({ files: files++, of: paths.length });
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
