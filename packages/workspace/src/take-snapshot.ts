import { constants, copyFile, lstat, mkdir, opendir, readlink, symlink, utimes } from "node:fs/promises";
import { join, relative } from "node:path";
import { copyProject, type CopyProjectOptions } from "./copy-project.ts";
import { WorkspaceError } from "./workspace-error.ts";

const AT_ONCE = 16;

/** A project as it was at one moment. Any number of workspaces are copied from it, and none of them changes it. */
export interface Snapshot {
  /** The folder in the snapshot that stands for the project: absolute. */
  readonly folder: string;
  /**
   * Copies the snapshot with its repository; no program is started for it.
   *
   * @param target - The folder of the copy: absolute, and not there yet.
   * @returns the folder in the copy that stands for the project
   * @throws {WorkspaceError} `WORKSPACE_IO`
   */
  readonly copyTo: (target: string, signal: AbortSignal) => Promise<string>;
}

/**
 * Takes a snapshot of a project, with the files that `copyProject()` copies: what somebody changes in the project afterwards is
 * seen by no copy of it.
 *
 * @throws {WorkspaceError} `GIT_FAILED`, `WORKSPACE_IO`
 */
export async function takeSnapshot(options: CopyProjectOptions): Promise<Snapshot> {
  const { target: root, signal } = options;
  const folder = await copyProject(options);
  const entries = await inWords(root, signal, () => scan(root));
  return {
    folder,
    copyTo: async (target, ownSignal) => {
      await inWords(root, ownSignal, () => copyEntries(root, target, { entries, signal: ownSignal }));
      return join(target, relative(root, folder));
    },
  };
}

/** The paths below a folder, relative to it. */
interface Entries {
  /** Each after the one that holds it. */
  readonly folders: readonly string[];
  readonly files: readonly { readonly path: string; readonly atime: Date; readonly mtime: Date }[];
  readonly links: readonly { readonly path: string; readonly to: string }[];
}

async function scan(root: string): Promise<Entries> {
  const folders = [""];
  const files: Entries["files"][number][] = [];
  const links: Entries["links"][number][] = [];
  // The list grows while it is walked.
  for (const folder of folders) {
    for await (const entry of await opendir(join(root, folder))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isSymbolicLink()) links.push({ path, to: await readlink(join(root, path)) });
      else {
        const { atime, mtime } = await lstat(join(root, path));
        files.push({ path, atime, mtime });
      }
    }
  }
  return { folders, files, links };
}

async function copyEntries(
  from: string,
  to: string,
  { entries, signal }: { readonly entries: Entries; readonly signal: AbortSignal },
): Promise<void> {
  const { folders, files, links } = entries;
  for (const path of folders) await mkdir(join(to, path), { mode: path === "" ? 0o700 : 0o777 });
  for (const link of links) await symlink(link.to, join(to, link.path));
  const queue = files.values();
  const work = async (): Promise<void> => {
    for (const { path, atime, mtime } of queue) {
      signal.throwIfAborted();
      const copy = join(to, path);
      // Shares the blocks where the file system can.
      await copyFile(join(from, path), copy, constants.COPYFILE_FICLONE);
      await utimes(copy, atime, mtime);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function inWords<Result>(root: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Error)) throw error;
    throw new WorkspaceError("WORKSPACE_IO", `Cannot copy the snapshot "${root}": ${error.message}`, { cause: error });
  }
}
