import { copyFile, mkdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { realpathSync } from "node:fs";
import { copyFiles, listFiles } from "./copy-files.ts";
import { findGit, type Git } from "./git.ts";
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
    const top = await git?.ask(project, "rev-parse", "--show-toplevel");
    await mkdir(target, { recursive: true, mode: 0o700 });
    if (git === undefined || top === undefined) {
      await copyFiles(project, target, await listFiles(project), signal);
      return target;
    }
    const root = top.replace(/\n$/, "");
    await cloneRepository(git, root, target);
    await copyTracked(git, { from: root, to: target, signal });
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
  readonly signal: AbortSignal;
}

async function copyTracked(git: Git, { from, to, signal }: Copying): Promise<void> {
  const listed = await git.run(from, "ls-files", "-z", "--cached", "--others", "--exclude-standard");
  const paths = [...new Set(listed.split("\0").filter((path) => path !== ""))];
  for (const path of await copyFiles(from, to, paths, signal)) {
    await mkdir(join(to, path), { recursive: true });
    const isRepository = (await git.ask(join(from, path), "rev-parse", "--show-prefix")) === "\n";
    if (isRepository) await copyTracked(git, { from: join(from, path), to: join(to, path), signal });
  }
}

// A clone knows the branches of the project as those of its remote; they become what the project itself has.
async function cloneRepository(git: Git, root: string, target: string): Promise<void> {
  // Few files, since a snapshot is copied for every job: no samples of hooks, and all references in one file.
  await git.run(root, "clone", "--quiet", "--template=", "--shared", "--no-checkout", "--", root, target);
  const refs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", "+refs/remotes/*:refs/remotes/*"];
  await git.run(target, "fetch", "--quiet", "--prune", "--update-head-ok", "origin", ...refs);
  await git.run(target, "pack-refs", "--all");
  const url = await git.ask(root, "remote", "get-url", "origin");
  if (url === undefined) await git.run(target, "remote", "remove", "origin");
  else await git.run(target, "remote", "set-url", "origin", url.replace(/\n$/, ""));
  const index = await git.run(root, "rev-parse", "--git-path", "index");
  await copyFile(resolve(root, index.replace(/\n$/, "")), join(target, ".git/index")).catch(() => undefined);
}
