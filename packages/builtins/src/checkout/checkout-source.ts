import { CacheError, isCacheError, isRefusedCommit } from "@steps/cache";
import { openRemote, type Remote } from "@steps/transfer";
import { messageOf } from "@steps/model";
import type { CheckoutGit, Repository } from "./checkout-git.ts";
import type { CheckoutInputs } from "./checkout-inputs.ts";
import type { CheckoutPlace } from "./checkout-place.ts";
import { branchOf, type Wanted } from "./checkout-ref.ts";

/** The repository that the project is fetched from. */
export interface Source {
  readonly remote: Remote;
  /** Whether the job names the repository; otherwise it is the one that the workspace was cloned from. */
  readonly isDeclared: boolean;
}

/** A commit, and the full name of the branch or tag that it was found under. */
export interface Found {
  readonly commit: string;
  readonly name: string | undefined;
}

const ALL_BRANCHES = "+refs/heads/*:refs/remotes/origin/*";
/** All tags, in the place of those that are there. */
export const ALL_TAGS = "+refs/tags/*:refs/tags/*";

/**
 * The project's server: what `CI_REPOSITORY_URL` says, else the `origin` of the workspace. Credentials of the URL, or the token that
 * was given, are for the requests of this checkout only.
 */
export async function sourceOf(
  git: CheckoutGit,
  folder: string,
  { env, inputs }: { env: CheckoutPlace["env"]; inputs: CheckoutInputs },
): Promise<Source | undefined> {
  const declared = env["CI_REPOSITORY_URL"] ?? "";
  if (declared !== "") return { remote: withToken(openRemote(declared, {}), inputs.token, env), isDeclared: true };
  // It fails where the folder is in no repository.
  const origin = await git.try(["-C", folder, "config", "--local", "--get", "remote.origin.url"]);
  const url = origin.stdout.toString().trim();
  if (url === "") return undefined;
  try {
    return { remote: withToken(openRemote(asUrl(url), {}), inputs.token, env), isDeclared: false };
  } catch {
    // One that only its owner's git understands.
    return undefined;
  }
}

/** The URL of what `git` takes for an address: a path, `host:path`, or a URL. */
export function asUrl(origin: string): string {
  if (origin.startsWith("/")) return `file://${encodeURI(origin)}`;
  const scp = /^((?:[\w.-]+@)?[\w.-]+):(?!\/\/)(.*)$/.exec(origin);
  return scp === null ? origin : `ssh://${scp[1]}/${scp[2]}`;
}

function withToken(remote: Remote, token: string, env: CheckoutPlace["env"]): Remote {
  if (token === "" || !remote.scheme.startsWith("http")) return remote;
  return { ...remote, authorization: authorizationOf(token, env) };
}

/** The `Authorization` that stands for a token. GitLab's job token has a user of its own. */
export function authorizationOf(token: string, env: CheckoutPlace["env"]): string {
  const user = token === env["CI_JOB_TOKEN"] ? "gitlab-ci-token" : "x-access-token";
  return `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}`;
}

/**
 * Finds out which commit is wanted. A branch or tag is asked for at the server that the job declares; if that does not answer, or
 * there is none, what the workspace knows counts.
 *
 * @throws {CacheError} REFERENCE_NOT_FOUND, and those of the transport
 */
export async function findCommit(
  git: CheckoutGit,
  wanted: Wanted,
  options: { workspace: Repository | undefined; source: Source | undefined; warn: (line: string) => void },
): Promise<Found> {
  const { workspace, source, warn } = options;
  if (wanted.commit !== undefined) return { commit: wanted.commit, name: wanted.names[0] };
  const findHere = async (): Promise<Found | undefined> =>
    workspace === undefined ? undefined : await lookUpHere(git, workspace, wanted.names);
  if (source?.isDeclared !== true) {
    const here = await findHere();
    if (here !== undefined) return here;
  }
  if (source !== undefined) {
    try {
      const there = await git.lookUp(source.remote, wanted.names);
      if (there !== undefined) return there;
    } catch (error) {
      const here = isCacheError(error, "CANCELLED") ? undefined : await findHere();
      if (here === undefined) throw error;
      warn(`${messageOf(error)}; "${wanted.ref}" is what the workspace knows of it`);
      return here;
    }
  }
  const here = await findHere();
  if (here !== undefined) return here;
  const where = source === undefined ? "the workspace" : source.remote.location;
  throw new CacheError(
    "REFERENCE_NOT_FOUND",
    `Cannot check out ref "${wanted.ref}": "${where}" has no such branch or tag`,
  );
}

async function lookUpHere(
  git: CheckoutGit,
  { tree }: Repository,
  names: readonly string[],
): Promise<Found | undefined> {
  for (const name of names) {
    const branch = branchOf(name);
    // A remote branch that was fetched is newer than a local branch that was once made from it.
    for (const place of branch === undefined ? [name] : [`refs/remotes/origin/${branch}`, name]) {
      const commit = await git.commitOf(tree, place);
      if (commit !== undefined) return { commit, name };
    }
  }
  return undefined;
}

/** The objects to bring into a repository. */
export interface Transfer {
  readonly found: Found;
  /**
   * The number of commits to fetch; `all` for everything that leads to the commit, `whole` for the repository with all
   * branches and tags.
   */
  readonly history: number | "all" | "whole";
  readonly tags: boolean;
}

/**
 * Brings a commit into a repository. A server that gives no single commits is asked for everything.
 *
 * @throws {CacheError} REFERENCE_NOT_FOUND, and those of the transport
 */
export async function bring(git: CheckoutGit, dir: string, remote: Remote, transfer: Transfer): Promise<void> {
  const { found, history, tags } = transfer;
  const isThere = async (): Promise<boolean> => (await git.commitOf(dir, found.commit)) !== undefined;
  if (history === "whole") {
    const limit = (await git.open(dir))?.isShallow === true ? ["--unshallow"] : [];
    await git.fetch(dir, remote, [...limit, "--", remote.url, ALL_BRANCHES, ALL_TAGS]);
    if (await isThere()) return;
  }
  const limit = typeof history === "number" ? [`--depth=${history}`] : [];
  const refspecs = [`${found.commit}${targetOf(found)}`, ...(tags ? [ALL_TAGS] : [])];
  try {
    await git.fetch(dir, remote, [...limit, "--", remote.url, ...refspecs]);
  } catch (error) {
    if (!isCacheError(error) || error.code === "CANCELLED" || !isRefusedCommit(error.message)) throw error;
    await git.fetch(dir, remote, ["--", remote.url, ALL_BRANCHES, ALL_TAGS]);
  }
  if (await isThere()) return;
  throw new CacheError("REFERENCE_NOT_FOUND", `Cannot find commit "${found.commit}" in "${remote.location}"`);
}

// A commit without a name is kept by being checked out.
function targetOf({ name }: Found): string {
  const branch = branchOf(name);
  if (branch !== undefined) return `:refs/remotes/origin/${branch}`;
  return name?.startsWith("refs/tags/") === true ? `:${name}` : "";
}
