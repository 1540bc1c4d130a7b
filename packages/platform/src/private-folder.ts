import { chmodSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it that are missing, for their owner alone whatever the umask. Gives whether it was made.
 * (Node's own way to make several tries for ever where the file system says that there is no such folder, as /proc does.)
 *
 * @throws the error of the system
 */
export function makePrivateFolder(path: string): boolean {
  if (isFolder(path)) return false;
  const parent = dirname(path);
  if (parent !== path) makePrivateFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another one was faster.
    if (isFolder(path)) return false;
    throw error;
  }
  chmodSync(path, 0o700);
  return true;
}

/**
 * Returns the reason for which a folder cannot hold data that nobody else may change, or `undefined` if there is none.
 */
export function folderProblem(path: string): string | undefined {
  const own = process.geteuid?.();
  if (own === undefined) return statSync(path).isDirectory() ? undefined : "it is not a folder";
  const link = lstatSync(path);
  // Whoever owns a link may let it lead elsewhere at any time.
  if (link.isSymbolicLink() && link.uid !== own && link.uid !== 0) return `it is a link of user ${link.uid}`;
  const stats = statSync(path);
  if (!stats.isDirectory()) return "it is not a folder";
  if (stats.uid !== own) return `it belongs to user ${stats.uid}`;
  if ((stats.mode & 0o022) !== 0) return `others may write to it (mode ${(stats.mode & 0o777).toString(8)})`;
  return undefined;
}

/** Whether a path is a folder that `folderProblem()` has nothing against and no link, by one look. */
export function isPrivateFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return false;
  const own = process.geteuid?.();
  return own === undefined || (stats.uid === own && (stats.mode & 0o022) === 0);
}

/** Why a folder could not be made or written to, in words. */
export function describeFolderError(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? "";
  return REASONS[code] ?? (error instanceof Error ? error.message : String(error));
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EEXIST: "something else is in its place",
  EDQUOT: "the quota of the disk is used up",
  EMFILE: "too many files are open: raise the limit (ulimit -n), or run fewer steps at a time",
  EFBIG: "a file would be larger than it may be",
  ENOENT: "no folders can be made there",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is not a folder",
  EPERM: "permission denied",
  EROFS: "it is on a file system that may only be read",
};

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
