import { mkdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { realpathSync } from "node:fs";
import { copyFiles, listFiles } from "./copy-files.ts";
import { findGit, type Git } from "./git.ts";
import { makeRepository } from "./make-repository.ts";
import { listPaths, readRepository } from "./read-repository.ts";
import { WorkspaceError } from "./workspace-error.ts";

/** The project that is copied, and where to. */
export interface CopyProjectOptions {
  /** A folder of the project: absolute. In a repository of git the whole repository is copied. */
  readonly project: string;
  /** The folder of the copy: absolute, and not there yet. */
  readonly target: string;
  /** The environment that git is found in and started with. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends the copying; the rejection is the reason of the signal. */
  readonly signal: AbortSignal;
}

/**
 * Copies a project as it is now: tracked, changed and new files, but not those that git ignores, nor those that were deleted. The
 * copy has a repository of its own with the same branch, index, tags and remote, which shares the objects of the first; whatever
 * a job does in it leaves the project as it is. Submodules that are checked out are copied without a repository.
 * Outside of git all files are copied.
 *
 * @returns the folder in the copy that stands for `project`
 * @throws {WorkspaceError} `GIT_FAILED`, `WORKSPACE_IO`
 */
export async function copyProject({ project, target, env, signal }: CopyProjectOptions): Promise<string> {
  try {
    const git = findGit(env, signal);
    const repository = git && (await readRepository(git, project));
    await mkdir(target, { recursive: true, mode: 0o700 });
    if (git === undefined || repository === undefined) {
      await copyFiles(project, target, await listFiles(project), signal);
      return target;
    }
    const { root, paths } = repository;
    await Promise.all([makeRepository(repository, target), copyPaths(git, { from: root, to: target, paths, signal })]);
    return join(target, relative(realpathSync(root), realpathSync(project)));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WorkspaceError || !(error instanceof Error)) throw error;
    throw new WorkspaceError("WORKSPACE_IO", `Cannot copy "${project}": ${error.message}`, { cause: error });
  }
}

interface Copying {
  readonly from: string;
  readonly to: string;
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
}

async function copyPaths(git: Git, { from, to, paths, signal }: Copying): Promise<void> {
  for (const path of await copyFiles(from, to, paths, signal)) {
    const inner = { from: join(from, path), to: join(to, path) };
    await mkdir(inner.to, { recursive: true });
    const isRepository = (await git.ask(inner.from, "rev-parse", "--show-prefix")) === "\n";
    if (isRepository) await copyPaths(git, { ...inner, paths: await listPaths(git, inner.from), signal });
  }
}
