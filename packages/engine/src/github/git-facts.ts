import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { publicUrl } from "@steps/model/reference";

/** The commit and the repository that are checked out in a workspace, as far as its files tell. */
export interface GitFacts {
  /** The full id of the commit. */
  readonly sha?: string;
  /** The name of the branch. Absent where none is checked out. */
  readonly refName?: string;
  /** The repository of the remote, `owner/repo`. */
  readonly repository?: string;
  /** The branch that the remote starts from, as far as it is known here. */
  readonly defaultBranch?: string;
  /** The login that git's configuration has as `github.user`. */
  readonly user?: string;
}

const MAX_BYTES = 4 * 1024 * 1024;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Reads the facts of the repository that a folder is in. Starts no process, follows what git itself would; never throws. */
export function readGitFacts(folder: string): GitFacts {
  const gitDir = findGitDir(folder);
  if (gitDir === undefined) return {};
  const common = commonDir(gitDir);
  const head = read(join(gitDir, "HEAD"))?.trim() ?? "";
  const ref = /^ref: (refs\/[^\s]+)$/.exec(head)?.[1];
  const sha = ref === undefined ? head : commitOf(common, ref);
  const refName = ref?.startsWith("refs/heads/") === true ? ref.slice("refs/heads/".length) : undefined;
  const config = read(join(common, "config")) ?? "";
  const repository = repositoryOf(config);
  const user = [config, ...userConfigs()].map(githubUserOf).find((login) => login !== undefined);
  const defaultBranch = defaultBranchOf(common);
  return {
    ...(sha !== undefined && COMMIT.test(sha) ? { sha } : {}),
    refName,
    repository,
    defaultBranch,
    user,
  };
}

const REMOTE_HEAD = "refs/remotes/origin/";

// The branch is the one that the remote named when it was cloned, otherwise the first of the usual names that exists.
function defaultBranchOf(common: string): string | undefined {
  const head = read(join(common, REMOTE_HEAD, "HEAD"))?.trim() ?? "";
  if (head.startsWith(`ref: ${REMOTE_HEAD}`)) return head.slice(`ref: ${REMOTE_HEAD}`.length);
  return ["main", "master"].find((name) => {
    return [REMOTE_HEAD, "refs/heads/"].some((folder) => commitOf(common, folder + name) !== undefined);
  });
}

function userConfigs(): readonly string[] {
  const { HOME = "", XDG_CONFIG_HOME = "" } = process.env;
  const folders = [XDG_CONFIG_HOME === "" ? join(HOME, ".config") : XDG_CONFIG_HOME];
  return [join(HOME, ".gitconfig"), ...folders.map((dir) => join(dir, "git/config"))].map((path) => read(path) ?? "");
}

function githubUserOf(config: string): string | undefined {
  const section = /^\s*\[github\]([^[]*)/im.exec(config)?.[1] ?? "";
  return /^\s*user\s*=\s*"?([\w-]+)"?\s*$/im.exec(section)?.[1];
}

function findGitDir(folder: string): string | undefined {
  for (let dir = resolve(folder); ; dir = dirname(dir)) {
    const path = join(dir, ".git");
    if (existsSync(path)) {
      if (statSync(path).isDirectory()) return path;
      // A worktree or a submodule.
      const target = /^gitdir: (.+)$/m.exec(read(path) ?? "")?.[1];
      return target === undefined ? undefined : resolve(dir, target.trim());
    }
    if (dirname(dir) === dir) return undefined;
  }
}

function commonDir(gitDir: string): string {
  const common = read(join(gitDir, "commondir"))?.trim();
  return common === undefined ? gitDir : resolve(gitDir, common);
}

function commitOf(common: string, ref: string): string | undefined {
  if (ref.split("/").includes("..")) return undefined;
  const loose = read(join(common, ref))?.trim();
  if (loose !== undefined) return loose;
  const packed = read(join(common, "packed-refs")) ?? "";
  return packed
    .split("\n")
    .find((line) => line.endsWith(` ${ref}`))
    ?.split(" ", 1)[0];
}

function repositoryOf(config: string): string | undefined {
  const section = /\[remote "origin"\]([^[]*)/.exec(config)?.[1] ?? "";
  const url = /^\s*url\s*=\s*(.+?)\s*$/m.exec(section)?.[1]?.replace(/^"(.*)"$/, "$1");
  if (url === undefined) return undefined;
  const path =
    /^[^/]*@[^/:]+:(.+)$/.exec(url)?.[1] ?? (URL.canParse(url) ? new URL(publicUrl(url)).pathname : undefined);
  const name = path?.replace(/^\/+|\/+$|\.git\/?$/g, "");
  return name === undefined || !name.includes("/") ? undefined : name;
}

function read(path: string): string | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
