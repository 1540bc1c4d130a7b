import { findGit, isCacheError } from "@steps/cache";
import type { Remote } from "@steps/transfer";
import { messageOf } from "@steps/model";
import { BuiltinError } from "../builtin-error.ts";
import { persistCredentials, trustTree } from "./checkout-config.ts";
import { CheckoutGit, localRemote, type Repository } from "./checkout-git.ts";
import { type CheckoutInputs, readCheckoutInputs } from "./checkout-inputs.ts";
import { type CheckoutPlace, isEmptyFolder, openTarget, workspaceOf } from "./checkout-place.ts";
import { branchOf, readRef, type Wanted } from "./checkout-ref.ts";
import { ALL_TAGS, bring, findCommit, type Found, type Source, sourceOf } from "./checkout-source.ts";
import { updateLfs, updateSubmodules } from "./checkout-extras.ts";

/** A checkout in progress. */
interface Checkout {
  readonly git: CheckoutGit;
  readonly place: CheckoutPlace;
  readonly inputs: CheckoutInputs;
  readonly wanted: Wanted;
  /** The folder of the job, and the repository that it is in. */
  readonly folder: string;
  readonly workspace: Repository | undefined;
  readonly source: Source | undefined;
  readonly warn: (line: string) => void;
}

/**
 * Does what `actions/checkout` does, for the job's own project, whose tree is in the workspace already. Without `path` and `ref` that
 * tree stays as it is; with them, commits come from the workspace's own objects where they are there, else from
 * `CI_REPOSITORY_URL`. Which inputs have which effect is in `checkout-inputs.ts`. Sets the outputs `ref` and `commit`.
 *
 * @throws {BuiltinError} BUILTIN_FAILED @throws {CacheError} GIT_MISSING, REFERENCE_NOT_FOUND, AUTH_FAILED, TRANSPORT …
 */
export async function runCheckout(inputs: Readonly<Record<string, string>>, place: CheckoutPlace): Promise<void> {
  const warn = place.warn ?? ((line: string): void => place.log(`Warning: ${line}`));
  const read = readCheckoutInputs(inputs, warn);
  const wanted = readRef(read.ref, place.env);
  const folder = workspaceOf(place);
  const target = read.path === "" ? folder : openTarget(folder, read.path);
  if (target === folder && wanted.isDefault && findGit(place.env) === undefined) {
    warn("There is no git on the PATH: the tree stays as it is");
    place.setOutput("ref", wanted.ref);
    place.setOutput("commit", wanted.commit ?? "");
    return;
  }
  await CheckoutGit.with(place, [...new Set([folder, target])], async (git) => {
    const [workspace, source] = await Promise.all([
      git.open(folder),
      sourceOf(git, folder, { env: place.env, inputs: read }),
    ]);
    const checkout = { git, place, inputs: read, wanted, folder, workspace, source, warn };
    const commit = target === folder ? await inWorkspace(checkout) : await beside(checkout, target);
    if (commit !== undefined) await finish(checkout, target);
    place.setOutput("ref", wanted.ref);
    place.setOutput("commit", commit ?? wanted.commit ?? "");
  });
}

async function finish({ git, place, inputs, source, warn }: Checkout, tree: string): Promise<void> {
  const options = { tree, inputs, source, place, warn };
  await updateSubmodules(git, options);
  await updateLfs(git, options);
  await persistCredentials(git, options);
  await trustTree(git, options);
}

/** The workspace itself. Gives the commit that is checked out, if it is a repository. */
async function inWorkspace(checkout: Checkout): Promise<string | undefined> {
  const { git, place, inputs, wanted, workspace, source, warn, folder } = checkout;
  if (inputs.sparse.length > 0) warn('Input "sparse-checkout" has no effect: nothing is taken away from the workspace');
  if (workspace === undefined) {
    if (source !== undefined) return await intoNew(checkout, folder);
    if (!wanted.isDefault)
      throw new BuiltinError("BUILTIN_FAILED", "Cannot check out a ref: the workspace is no repository");
    place.log("The workspace is no repository: it is used as it is");
    return undefined;
  }
  const { head } = workspace;
  const isHere = wanted.isDefault && (await isKept(checkout, workspace));
  if (!isHere && workspace.tree !== folder) {
    throw new BuiltinError(
      "BUILTIN_FAILED",
      `Cannot check out a ref: the workspace is a folder in the repository "${workspace.tree}"`,
    );
  }
  const found =
    isHere && head !== undefined ? { commit: head, name: undefined } : await findCommit(git, wanted, checkout);
  await completeHistory(checkout, workspace, found);
  if (isHere || (head === found.commit && branchOf(found.name) === undefined)) {
    place.log(`The tree is in place at ${found.commit}`);
    return found.commit;
  }
  if (inputs.clean === true) await clean(git, folder);
  await switchTo(checkout, folder, found);
  place.log(`Switched the workspace to ${found.commit}`);
  return found.commit;
}

/** Whether the tree is that of the job's commit, or nobody can say that it is not. */
async function isKept({ git, wanted, warn, folder, source }: Checkout, { head, tree }: Repository): Promise<boolean> {
  if (wanted.commit === undefined || head === wanted.commit) return true;
  if (head === undefined) {
    // Nothing was ever checked out. On a machine of one's own, a project without a commit has one of zeros.
    return tree !== folder || source?.isDeclared !== true || /^0+$/.test(wanted.commit);
  }
  if ((await git.commitOf(folder, wanted.commit)) !== undefined) return false;
  warn(`The workspace is at ${head} and does not have the job's commit ${wanted.commit}: it stays as it is`);
  return true;
}

/** Brings what is not there: the commit, and the history that was asked for. What is there is not made less. */
async function completeHistory(checkout: Checkout, workspace: Repository, found: Found): Promise<void> {
  const { git, inputs, source, warn, folder } = checkout;
  const { isShallow, head } = workspace;
  const isThere = found.commit === head || (await git.commitOf(folder, found.commit)) !== undefined;
  const isLong = !isShallow || (await hasHistory(git, folder, { commit: found.commit, depth: inputs.fetchDepth ?? 1 }));
  // A whole clone on somebody's own machine has the branches that its owner wants.
  const isWholeAsked = inputs.fetchDepth === 0 && (isShallow || source?.isDeclared === true);
  if (isThere && isLong && !isWholeAsked && !inputs.fetchTags) return;
  if (source === undefined) {
    if (isThere) return warn("There is no server to fetch from, as CI_REPOSITORY_URL is not set");
    throw nowhere(found);
  }
  try {
    if (isThere && isLong && !isWholeAsked) {
      // A depth would cut off history at each tag.
      return await git.fetch(folder, source.remote, ["--", source.remote.url, ALL_TAGS]);
    }
    const history = isWholeAsked ? "whole" : isShallow ? (inputs.fetchDepth ?? 1) : "all";
    await bring(git, folder, source.remote, { found, history, tags: inputs.fetchTags });
  } catch (error) {
    if (!isThere || !isLong || isCacheError(error, "CANCELLED")) throw error;
    warn(`${messageOf(error)}; branches and tags are those that the workspace has`);
  }
}

/** Whether so many commits are there; of a shallow repository, never all. */
async function hasHistory(
  git: CheckoutGit,
  folder: string,
  wanted: { commit: string; depth: number },
): Promise<boolean> {
  const { commit, depth } = wanted;
  if (depth < 2) return depth === 1;
  const ran = await git.try(["-C", folder, "rev-list", "--first-parent", `--max-count=${depth}`, "--count", commit]);
  return ran.code === 0 && Number(ran.stdout.toString()) >= depth;
}

function nowhere({ commit }: Found): BuiltinError {
  return new BuiltinError(
    "BUILTIN_FAILED",
    `Cannot check out ${commit}: the workspace does not have it, and there is no server`,
  );
}

/** A folder in the workspace. Gives the commit. */
async function beside(checkout: Checkout, target: string): Promise<string> {
  const { git, inputs, source } = checkout;
  if (isEmptyFolder(target)) return await intoNew(checkout, target);
  const there = await git.open(target);
  const origin =
    there?.tree === target
      ? await git.try(["-C", target, "config", "--local", "--get", "remote.origin.url"])
      : undefined;
  if (origin === undefined || origin.stdout.toString().trim() !== originOf(checkout)) {
    throw new BuiltinError("BUILTIN_FAILED", `Cannot check out into "${inputs.path}": there is something else in it`, {
      hint: "Name a folder that is not there, or remove it before.",
    });
  }
  const found = await findCommit(git, checkout.wanted, { ...checkout, source });
  if (inputs.clean !== false) await clean(git, target);
  await obtain(checkout, target, found);
  await switchTo(checkout, target, found, { isOurs: true });
  checkout.place.log(`Checked out ${found.commit} into ${inputs.path} again`);
  return found.commit;
}

async function intoNew(checkout: Checkout, target: string): Promise<string> {
  const { git, inputs, wanted, folder, place } = checkout;
  const found = await findCommit(git, wanted, checkout);
  const format = found.commit.length === 64 ? "sha256" : "sha1";
  await git.run(["init", "--quiet", "--template=", `--object-format=${format}`, "--", target], {
    action: `make a repository in "${target}"`,
  });
  await git.run(["-C", target, "config", "remote.origin.url", originOf(checkout)], {
    action: "write the configuration",
  });
  await git.run(["-C", target, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"], {
    action: "write the configuration",
  });
  await obtain(checkout, target, found);
  if (inputs.sparse.length > 0 && target !== folder) {
    const mode = inputs.isCone ? "--cone" : "--no-cone";
    const input = `${inputs.sparse.join("\n")}\n`;
    await git.run(["-C", target, "sparse-checkout", "set", mode, "--stdin"], {
      action: "make the checkout sparse",
      input,
    });
  }
  await switchTo(checkout, target, found, { isOurs: true });
  place.log(`Checked out ${found.commit}${inputs.path === "" ? "" : ` into ${inputs.path}`}`);
  return found.commit;
}

/** Never with credentials. */
function originOf({ source, workspace, folder }: Checkout): string {
  return source?.remote.location ?? localRemote(workspace?.tree ?? folder).location;
}

/** Brings a commit into a repository of ours: from the workspace if it has what is needed, else from the server. */
async function obtain(checkout: Checkout, target: string, found: Found): Promise<void> {
  const { git, inputs, workspace, source, warn } = checkout;
  const { fetchDepth: depth = 1, fetchTags: tags } = inputs;
  const transfer = { found, history: depth === 0 ? ("whole" as const) : depth, tags };
  const remotes: Remote[] = source === undefined ? [] : [source.remote];
  const isOther = workspace !== undefined && workspace.tree !== target;
  if (isOther && (await git.commitOf(workspace.tree, found.commit)) !== undefined) {
    const isEnough = !tags && (depth === 1 || (depth > 1 && !workspace.isShallow));
    remotes.splice(isEnough ? 0 : 1, 0, localRemote(workspace.tree));
  }
  for (const [index, remote] of remotes.entries()) {
    try {
      return await bring(git, target, remote, transfer);
    } catch (error) {
      if (index === remotes.length - 1 || isCacheError(error, "CANCELLED")) throw error;
      warn(messageOf(error));
    }
  }
  throw nowhere(found);
}

async function clean(git: CheckoutGit, tree: string): Promise<void> {
  await git.run(["-C", tree, "reset", "--hard", "--quiet"], { action: "reset the tree" });
  await git.run(["-C", tree, "clean", "-ffdxq"], { action: "clean the tree" });
}

/** Changes of the user that are in the way are an error; a tree of ours is overwritten. */
async function switchTo(
  { git, place, warn }: Checkout,
  tree: string,
  { commit, name }: Found,
  options: { isOurs?: boolean } = {},
): Promise<void> {
  const force = options.isOurs === true ? ["--force"] : [];
  const branch = branchOf(name);
  const before = branch === undefined ? undefined : await git.commitOf(tree, `refs/heads/${branch}`);
  const isMovable = before === undefined || options.isOurs === true || (await isAncestor(git, tree, [before, commit]));
  const asBranch = branch !== undefined && isMovable;
  if (branch !== undefined && !isMovable)
    warn(`Branch "${branch}" of the workspace has other commits: it stays where it is`);
  const where = asBranch ? ["-B", branch, commit] : ["--detach", commit];
  const action = `switch "${tree}" to ${commit}`;
  await git.run(["-C", tree, "checkout", "--quiet", ...force, ...where, "--"], { action });
  if (!asBranch || (await git.commitOf(tree, `refs/remotes/origin/${branch}`)) === undefined) return;
  const upstream = await git.try(["-C", tree, "branch", "--quiet", `--set-upstream-to=origin/${branch}`, branch]);
  if (upstream.code !== 0) place.log(`Branch "${branch}" follows no other`);
}

async function isAncestor(git: CheckoutGit, tree: string, commits: readonly [string, string]): Promise<boolean> {
  return (await git.try(["-C", tree, "merge-base", "--is-ancestor", ...commits])).code === 0;
}
