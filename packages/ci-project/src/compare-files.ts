import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { type FilesOf, type Situation, SituationError } from "@steps/gitlab-ci/rules";
import type { FolderGit } from "./read-repository.ts";

/** The commit that changes are counted from. */
export type ChangesBase =
  /** A commit, branch or tag: from where it and the checked out commit part. */
  | { readonly kind: "revision"; readonly name: string }
  /** The changes that a push to the branch would bring. */
  | { readonly kind: "push"; readonly defaultBranch: string | undefined }
  /** There is nothing to compare with. */
  | { readonly kind: "nothing" };

type FileQuestions = Required<Pick<Situation, "changedFiles" | "trackedFiles">>;

/**
 * Answers which files changed and which there are, with what is changed and new in the working tree and not ignored, since that is
 * what a job here would run with.
 */
export function compareFiles(folder: string, git: FolderGit | undefined, base: ChangesBase): FileQuestions {
  if (git === undefined) return { changedFiles: () => undefined, trackedFiles: (from) => walk(folder, from) };
  return {
    changedFiles: async (compareTo) => {
      const wanted: ChangesBase = compareTo === undefined ? base : { kind: "revision", name: compareTo };
      const commit = await findBase(git, wanted);
      return commit === undefined ? undefined : changedSince(git, commit);
    },
    trackedFiles: async ({ project, ref }) => {
      if (project !== undefined) throw new SituationError(`The files of the project ${project} are not known here`);
      if (ref === undefined)
        return list(await git.ask("ls-files", "-z", "-c", "-o", "--exclude-standard", "--full-name", ":/"));
      return list(await git.ask("ls-tree", "-r", "-z", "--name-only", "--full-tree", await resolve(git, ref)));
    },
  };
}

async function findBase(git: FolderGit, base: ChangesBase): Promise<string | undefined> {
  if (base.kind === "nothing") return undefined;
  if (base.kind === "revision") return mergeBase(git, await resolve(git, base.name));
  const start = base.defaultBranch === undefined ? undefined : await find(git, base.defaultBranch);
  const parted = start === undefined ? undefined : await mergeBase(git, start);
  // On the default branch itself the newest commit stands for what a push brought.
  const head = await revision(git, "HEAD");
  return parted === undefined || parted === head ? revision(git, "HEAD^") : parted;
}

async function resolve(git: FolderGit, name: string): Promise<string> {
  const commit = await find(git, name);
  if (commit === undefined) throw new SituationError(`There is no commit, branch or tag ${name}`);
  return commit;
}

// The branch of the remote is newer than one of the same name that somebody once had here.
async function find(git: FolderGit, name: string): Promise<string | undefined> {
  return (await revision(git, `refs/remotes/origin/${name}`)) ?? revision(git, name);
}

async function revision(git: FolderGit, name: string): Promise<string | undefined> {
  const answer = await git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
  return answer?.trim();
}

async function mergeBase(git: FolderGit, commit: string): Promise<string> {
  return (await git.ask("merge-base", commit, "HEAD"))?.trim() ?? commit;
}

async function changedSince(git: FolderGit, commit: string): Promise<readonly string[]> {
  const [changed, added] = await Promise.all([
    git.ask(
      "diff",
      "--name-only",
      "-z",
      "--no-renames",
      "--no-ext-diff",
      "--no-textconv",
      "--no-relative",
      commit,
      "--",
    ),
    git.ask("ls-files", "-z", "-o", "--exclude-standard", "--full-name", ":/"),
  ]);
  return [...new Set([...list(changed), ...list(added)])];
}

function list(text: string | undefined): readonly string[] {
  return (text ?? "").split("\0").filter((path) => path !== "");
}

function walk(folder: string, { project, ref }: FilesOf): readonly string[] {
  if (project !== undefined || ref !== undefined) {
    throw new SituationError(`The files of ${project ?? ref ?? ""} are not known here`);
  }
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
