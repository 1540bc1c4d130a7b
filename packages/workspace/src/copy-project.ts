import { checkOptionNames, type OptionNames } from "@steps/model";
import { mkdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
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

/** How far a copy is. */
export interface CopyProgress {
  /** The number of files that were copied. */
  readonly files: number;
  /** The number of all files. */
  readonly of: number;
}

/** A copy of a project that can be made: its files are known, except outside of git. */
export interface PlannedCopy {
  /** The folder in the copy that will stand for the project: absolute. */
  readonly folder: string;
  /** Whether the project is in a repository of git. Outside of one all files are copied. */
  readonly isRepository: boolean;
  /**
   * Makes the copy, once.
   *
   * @throws {WorkspaceError} `GIT_FAILED`, `WORKSPACE_IO`
   */
  readonly make: (onProgress?: (progress: CopyProgress) => void) => Promise<void>;
}

const OPTION_NAMES: OptionNames<CopyProjectOptions> = { project: true, target: true, env: true, signal: true };

/**
 * Copies a project as it is now: tracked, changed and new files, but not those that git ignores, nor those that were deleted. The
 * copy has a repository of its own with the same branch, index, tags and remote, which shares the objects of the first; whatever
 * a job does in it leaves the project as it is. Submodules that are checked out are copied without a repository.
 * Outside of git all files are copied.
 *
 * @returns the folder in the copy that stands for `project`
 * @throws {WorkspaceError} `GIT_FAILED`, `WORKSPACE_IO`
 */
export async function copyProject(options: CopyProjectOptions): Promise<string> {
  checkOptionNames("copyProject()", options, OPTION_NAMES);
  const { folder, make } = await planCopy(options);
  await make();
  return folder;
}

/**
 * The same in two steps: first it is only found out what would be copied, and where the project would lie in the copy.
 *
 * @throws {WorkspaceError} `GIT_FAILED`, `WORKSPACE_IO`
 */
export async function planCopy(options: CopyProjectOptions): Promise<PlannedCopy> {
  checkOptionNames("planCopy()", options, OPTION_NAMES);
  const { project, target, env, signal } = options;
  const git = findGit(env, signal);
  const repository = await inWords(options, async () => git && (await readRepository(git, project)));
  const isRepository = git !== undefined && repository !== undefined;
  const folder = isRepository ? join(target, relative(realpathSync(repository.root), realpathSync(project))) : target;
  const make: PlannedCopy["make"] = (onProgress) =>
    inWords(options, async () => {
      // A job may become another user, in a container above all: the folder around the copy is what keeps it private.
      await mkdir(target, { recursive: true });
      if (!isRepository) {
        const paths = await listFiles(project, { except: dirname(target), signal });
        await copyFiles(project, target, paths, { signal, onProgress });
        return;
      }
      const { root, paths } = repository;
      const copying = { from: root, to: target, paths, signal, onProgress };
      await Promise.all([makeRepository(repository, target), copyPaths(git, copying)]);
    });
  return { folder, isRepository, make };
}

async function inWords<Result>({ project, signal }: CopyProjectOptions, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
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
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

async function copyPaths(git: Git, { from, to, paths, signal, onProgress }: Copying): Promise<void> {
  for (const path of await copyFiles(from, to, paths, { signal, onProgress })) {
    const inner = { from: join(from, path), to: join(to, path) };
    await mkdir(inner.to, { recursive: true });
    const isRepository = (await git.ask(inner.from, "rev-parse", "--show-prefix")) === "\n";
    if (isRepository) await copyPaths(git, { ...inner, paths: await listPaths(git, inner.from), signal });
  }
}
