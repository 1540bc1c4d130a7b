import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** Content by path; a mode of `100755` makes a program of it. */
export type GitFiles = Readonly<
  Record<string, string | Uint8Array | { readonly content: string | Uint8Array; readonly mode: "100644" | "100755" }>
>;

/** A real repository with a working tree, driven by the real `git`. */
export interface GitRepository {
  readonly dir: string;
  /** `file://` URL of `dir`. */
  readonly url: string;
  /** Runs git in the repository, gives its standard output without the last line feed. */
  git(args: readonly string[], options?: { readonly input?: string | Uint8Array }): Promise<string>;
  /** Writes the files over those that are there and commits everything. Gives the commit's id. */
  commit(files: GitFiles, message?: string): Promise<string>;
  /** Tags HEAD. Gives the tagged commit's id. */
  tag(name: string, options?: { readonly isAnnotated?: boolean; readonly isForced?: boolean }): Promise<string>;
  /** Makes a branch at HEAD, or moves it there, without switching to it. */
  branch(name: string): Promise<void>;
  /** Switches to a branch. */
  checkout(name: string): Promise<void>;
  /** The full id that a revision names. */
  revision(name?: string): Promise<string>;
  /** Points a branch at a tree written by hand (`mktree` entries: mode, type, id, name). Gives the commit's id. */
  commitTree(branch: string, tree: string): Promise<string>;
  /** Stores a blob, gives its id. */
  blob(content: string | Uint8Array): Promise<string>;
  /** Stores a tree exactly as given: names may be hostile, order is kept. Gives its id. */
  tree(entries: readonly { readonly mode: string; readonly name: string; readonly id: string }[]): Promise<string>;
}

/** Makes a repository at `dir` (created if missing) on branch `main`, with one commit if there are files. */
export async function createGitRepository(
  dir: string,
  files: GitFiles = {},
  options: { readonly objectFormat?: "sha1" | "sha256" } = {},
): Promise<GitRepository> {
  mkdirSync(dir, { recursive: true });
  const clock = { commits: 0 };
  const git: GitRepository["git"] = (args, { input } = {}) => runGit(dir, args, { input, seconds: clock.commits });
  await git(["init", "-q", "-b", "main", `--object-format=${options.objectFormat ?? "sha1"}`]);
  // Servers of today let any reachable commit be asked for; a plain git-upload-pack does not by itself.
  await git(["config", "uploadpack.allowReachableSHA1InWant", "true"]);
  await git(["config", "uploadpack.allowFilter", "true"]);

  const revision = (name = "HEAD"): Promise<string> => git(["rev-parse", "--verify", `${name}^{commit}`]);
  const repository: GitRepository = {
    dir,
    url: pathToFileURL(dir).href,
    git,
    revision,
    async commit(changed, message = "Change files") {
      writeFiles(dir, changed);
      clock.commits += 1;
      await git(["add", "--all", "--force"]);
      await git(["commit", "-q", "--allow-empty", "-m", message]);
      return await revision();
    },
    async tag(name, { isAnnotated = false, isForced = false } = {}) {
      await git(["tag", ...(isForced ? ["-f"] : []), ...(isAnnotated ? ["-a", "-m", name] : []), name]);
      return await revision();
    },
    async branch(name) {
      await git(["branch", "-f", name]);
    },
    async checkout(name) {
      await git(["checkout", "-q", name]);
    },
    async commitTree(branch, tree) {
      const commit = await git(["commit-tree", "-m", "By hand", tree]);
      await git(["update-ref", `refs/heads/${branch}`, commit]);
      return commit;
    },
    blob: (content) => git(["hash-object", "-w", "--stdin"], { input: content }),
    tree: (entries) =>
      git(["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], {
        input: Buffer.concat(
          entries.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]),
        ),
      }),
  };
  if (Object.keys(files).length > 0) await repository.commit(files, "First commit");
  return repository;
}

function writeFiles(dir: string, files: GitFiles): void {
  for (const [path, file] of Object.entries(files)) {
    const target = join(dir, path);
    const isPlain = typeof file === "string" || file instanceof Uint8Array;
    mkdirSync(dirname(target), { recursive: true });
    rmSync(target, { force: true });
    writeFileSync(target, isPlain ? file : file.content);
    chmodSync(target, !isPlain && file.mode === "100755" ? 0o755 : 0o644);
  }
}

function runGit(
  dir: string,
  args: readonly string[],
  options: { input: string | Uint8Array | undefined; seconds: number },
): Promise<string> {
  const date = `${1_700_000_000 + options.seconds} +0000`;
  const child = spawn("git", [...args], {
    cwd: dir,
    env: {
      PATH: process.env["PATH"],
      HOME: dir,
      LC_ALL: "C",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_AUTHOR_NAME: "A Tester",
      GIT_AUTHOR_EMAIL: "tester@example.com",
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: "A Tester",
      GIT_COMMITTER_EMAIL: "tester@example.com",
      GIT_COMMITTER_DATE: date,
    },
  });
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(stdout).toString().replace(/\n$/, ""));
      else reject(new Error(`git ${args.join(" ")} failed (${code}): ${Buffer.concat(stderr).toString()}`));
    });
    // git may stop reading before it has read everything; its exit code tells what happened.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
  });
}
