import { readGitFacts } from "@steps/engine/github";
import { type CommitFacts, readRemote, type Remote } from "@steps/gitlab-ci/variables";
import { findGit } from "@steps/workspace";

/** Git, asked in one folder: what it prints, or `undefined` when it says no. */
export interface FolderGit {
  readonly ask: (...args: readonly string[]) => Promise<string | undefined>;
}

/** The repository that a folder is in, as far as git tells. */
export interface Repository {
  /** Absent where there is no git or no repository. */
  readonly git?: FolderGit | undefined;
  /** Absent for a repository without commits. */
  readonly commit?: CommitFacts | undefined;
  /** The branch that is checked out; absent when it is a commit or a tag. */
  readonly branch?: string | undefined;
  readonly defaultBranch?: string | undefined;
  /** The remote `origin`; absent without one, and when it is a folder. */
  readonly remote?: Remote | undefined;
  /** The URL of `origin` as git has it, which may hold credentials. */
  readonly originUrl?: string | undefined;
  readonly userName?: string | undefined;
  readonly userEmail?: string | undefined;
  /** The login that git's configuration has as `github.user`. */
  readonly userLogin?: string | undefined;
}

/** Reads what is checked out in a folder. Never throws: what is not known is absent. */
export async function readRepository(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Repository> {
  const { sha, refName, defaultBranch, user } = readGitFacts(folder);
  const program = findGit(env);
  const found = program && { ask: (...args: readonly string[]) => program.ask(folder, ...args) };
  // Git takes longer to start than to answer.
  const [settings, commit] = await Promise.all([
    readSettings(found),
    found === undefined || sha === undefined ? undefined : readCommit(found),
  ]);
  const known = {
    branch: refName,
    defaultBranch,
    userLogin: user,
    userName: settings.get("user.name"),
    userEmail: settings.get("user.email"),
  };
  if (found === undefined || (sha === undefined && refName === undefined)) return known;
  const url = settings.get("remote.origin.url");
  return { ...known, git: found, commit, remote: url === undefined ? undefined : readRemote(url), originUrl: url };
}

async function readSettings(git: FolderGit | undefined): Promise<ReadonlyMap<string, string>> {
  const text = await git?.ask("config", "-z", "--get-regexp", String.raw`^(remote\.origin\.url|user\.(name|email))$`);
  const pairs = (text ?? "").split("\0").filter((pair) => pair.includes("\n"));
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf("\n")), pair.slice(pair.indexOf("\n") + 1)]));
}

async function readCommit(git: FolderGit): Promise<CommitFacts | undefined> {
  const text = await git.ask("log", "-1", "--no-show-signature", "--encoding=UTF-8", "--format=%H%n%an <%ae>%n%cI%n%B");
  const lines = text?.split("\n");
  const [sha, author, timestamp, ...message] = lines ?? [];
  if (sha === undefined || author === undefined || timestamp === undefined) return undefined;
  // Git ends what it prints with a line end of its own.
  return { sha, author, timestamp, message: message.slice(0, -1).join("\n") };
}
