import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Git } from "./git.ts";

/** A repository with a working tree: what a copy of the project needs to know of it. All paths are absolute. */
export interface Repository {
  /** The folder of the working tree. */
  readonly root: string;
  /** The folder with the objects. */
  readonly objects: string;
  readonly index: string;
  /** The list of commits whose parents are not there; the file need not exist. */
  readonly shallow: string;
  /** The text of the file `HEAD`. */
  readonly head: string;
  readonly objectFormat: "sha1" | "sha256";
  readonly refs: readonly Ref[];
  /** The address of the remote `origin`. Absent without one. */
  readonly originUrl: string | undefined;
  /** The tracked files, and those that are new and not ignored: relative to the root. */
  readonly paths: readonly string[];
}

/** A branch, a tag or a branch of a remote. */
export interface Ref {
  /** `refs/heads/main`. */
  readonly name: string;
  readonly id: string;
  /** The name of the ref that it stands for. Absent for one that names an object. */
  readonly target?: string | undefined;
}

const REF_FORMAT = "%(objectname) %(refname) %(symref)";

/**
 * Reads the repository that a folder is in. All questions are asked at once, since starting git takes longer than its answer.
 *
 * @returns `undefined` outside of a working tree
 * @throws {WorkspaceError} `GIT_FAILED`
 */
export async function readRepository(git: Git, folder: string): Promise<Repository | undefined> {
  const [layout, paths, refs, url] = await Promise.allSettled([
    readLayout(git, folder),
    listPaths(git, folder),
    git.run(folder, "for-each-ref", `--format=${REF_FORMAT}`, "refs/heads", "refs/tags", "refs/remotes"),
    git.ask(folder, "remote", "get-url", "origin"),
  ]);
  const known = valueOf(layout);
  if (known === undefined) return undefined;
  const { gitDir, ...found } = known;
  return {
    ...found,
    head: await readHead(git, folder, gitDir),
    paths: valueOf(paths),
    refs: readRefs(valueOf(refs)),
    originUrl: valueOf(url)?.replace(/\n$/, ""),
  };
}

/** The tracked files of the repository that a folder is in, and the new ones that are not ignored: relative to its root. */
export async function listPaths(git: Git, folder: string): Promise<string[]> {
  const listed = await git.run(
    folder,
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
    "--full-name",
    ":/",
  );
  return [...new Set(listed.split("\0").filter((path) => path !== ""))];
}

function valueOf<Value>(settled: PromiseSettledResult<Value>): Value {
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

interface Layout extends Pick<Repository, "root" | "objects" | "index" | "shallow" | "objectFormat"> {
  readonly gitDir: string;
}

// rev-parse repeats a flag that it does not know, so that answers with line feeds in them can be told apart.
const NEXT = "--next";

async function readLayout(git: Git, folder: string): Promise<Layout | undefined> {
  const questions = [
    ["--show-toplevel"],
    ["--absolute-git-dir"],
    ["--git-path", "objects"],
    ["--git-path", "index"],
    ["--git-path", "shallow"],
    ["--show-object-format"],
  ];
  const text = await git.ask(folder, "rev-parse", ...questions.flatMap((question) => [...question, NEXT]));
  if (text === undefined) return undefined;
  const [root = "", gitDir = "", objects = "", index = "", shallow = "", format] = text.split(`\n${NEXT}\n`);
  return {
    root,
    gitDir,
    objects: resolve(folder, objects),
    index: resolve(folder, index),
    shallow: resolve(folder, shallow),
    objectFormat: format === "sha256" ? "sha256" : "sha1",
  };
}

// A repository that keeps its refs in tables has a file HEAD that only stands for one.
async function readHead(git: Git, folder: string, gitDir: string): Promise<string> {
  const text = await readFile(join(gitDir, "HEAD"), "utf8");
  if (text.trim() !== "ref: refs/heads/.invalid") return text;
  const branch = await git.ask(folder, "symbolic-ref", "--quiet", "HEAD");
  return branch === undefined ? git.run(folder, "rev-parse", "HEAD") : `ref: ${branch}`;
}

function readRefs(text: string): Ref[] {
  return text.split("\n").flatMap((line) => {
    const [id, name, target] = line.split(" ");
    return id === undefined || name === undefined ? [] : [{ id, name, target: target === "" ? undefined : target }];
  });
}
