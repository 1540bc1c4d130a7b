import { randomUUID } from "node:crypto";
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { CheckedOut } from "./checkout-extras.ts";
import { CheckoutGit } from "./checkout-git.ts";
import { type CheckoutPlace, workspaceOf } from "./checkout-place.ts";
import { authorizationOf } from "./checkout-source.ts";

/** The names of what `runCheckout()` leaves for `cleanUpCheckout()`. */
const STATE = { file: "credentials-file", tree: "credentials-tree" } as const;

/**
 * With `persist-credentials` and a token: writes a file with the token into `RUNNER_TEMP` and names it in the tree's configuration, so
 * that scripts can push. The job's own token is never written.
 */
export async function persistCredentials(git: CheckoutGit, checkedOut: CheckedOut): Promise<void> {
  const { tree, inputs, source, place, warn } = checkedOut;
  if (!inputs.persistCredentials) return;
  const { CI_JOB_TOKEN, RUNNER_TEMP } = place.env;
  if (inputs.token === "" || inputs.token === CI_JOB_TOKEN) {
    return warn("There are no credentials to keep: the job's own are not for its steps, so give a token");
  }
  if (source?.remote.scheme.startsWith("http") !== true) return warn("Credentials are kept for HTTP only");
  const directory = RUNNER_TEMP !== undefined && isAbsolute(RUNNER_TEMP) ? RUNNER_TEMP : undefined;
  if (directory === undefined) return warn("Credentials are not kept: RUNNER_TEMP is not set");
  const name = `git-credentials-${randomUUID()}.config`;
  const file = join(directory, name);
  const key = `${new URL(source.remote.url).origin}/`;
  const header = `AUTHORIZATION: ${authorizationOf(inputs.token, place.env)}`;
  // The header goes into a file, because everybody on the machine can read the arguments of a process.
  writeFileSync(file, `[http "${key}"]\n\textraheader = "${header}"\n`, { mode: 0o600, flag: "wx" });
  place.saveState?.(STATE.file, file);
  place.saveState?.(STATE.tree, tree);
  for (const [variable, value] of includes(tree, file, place)) {
    await git.run(["-C", tree, "config", "--local", variable, value], { action: "keep the credentials" });
  }
}

// A Docker action has both in other places.
function includes(tree: string, file: string, place: CheckoutPlace): [string, string][] {
  const inside = relative(workspaceOf(place), tree);
  const inContainer = join("/github/workspace", inside, ".git");
  return [
    [`includeIf.gitdir:${join(tree, ".git")}.path`, file],
    [`includeIf.gitdir:${inContainer}.path`, join("/github/runner_temp", file.slice(file.lastIndexOf("/") + 1))],
  ];
}

/**
 * Takes away the credentials that a checkout has kept: what its `post` is for. Does nothing where it has kept none, or where they are
 * gone already.
 */
export async function cleanUpCheckout(state: Readonly<Record<string, string>>, place: CheckoutPlace): Promise<void> {
  const { [STATE.file]: file, [STATE.tree]: tree } = state;
  if (file === undefined || tree === undefined) return;
  rmSync(file, { force: true });
  if (!existsSync(join(tree, ".git"))) return;
  await CheckoutGit.with(place, [tree], async (git) => {
    for (const [variable] of includes(tree, file, place)) {
      await git.try(["-C", tree, "config", "--local", "--unset-all", variable]);
      await git.try(["-C", tree, "config", "--local", "--remove-section", variable.slice(0, -".path".length)]);
    }
  });
}

/**
 * If the tree belongs to another user, tells the user's git to trust it all the same, so that later steps can use it.
 */
export async function trustTree(git: CheckoutGit, { tree, inputs, place }: CheckedOut): Promise<void> {
  const { HOME } = place.env;
  if (!inputs.setSafeDirectory || HOME === undefined || !isAbsolute(HOME) || !existsSync(HOME)) return;
  if (statSync(tree).uid === process.getuid?.()) return;
  const file = join(HOME, ".gitconfig");
  const known = await git.try(["config", "--file", file, "--get-all", "safe.directory"]);
  if (
    known.stdout
      .toString()
      .split("\n")
      .some((line) => line === tree || line === "*")
  )
    return;
  await git.run(["config", "--file", file, "--add", "safe.directory", tree], { action: "trust the tree" });
  place.log(`Told git to trust ${tree}, which belongs to another user`);
}
