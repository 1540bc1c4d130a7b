import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BuiltinError } from "../../builtin-error.ts";
import type { CheckoutGit } from "../../checkout/checkout-git.ts";

/** Removes everything in a folder, and keeps the folder, in which processes may be. */
export function emptyFolder(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
}

/**
 * Looks whether work would be lost that only this folder has.
 *
 * @param isEmptied whether all of it goes, not only what git knows to have changed
 * @throws {BuiltinError} BUILTIN_FAILED
 */
export async function assertNothingLost(git: CheckoutGit, folder: string, isEmptied: boolean): Promise<void> {
  if (readdirSync(folder).length === 0) return;
  const isRepository = (await git.open(folder))?.tree === folder;
  const status = isRepository ? await git.try(["-C", folder, "status", "--porcelain"]) : undefined;
  if (!isEmptied && status?.code === 0 && status.stdout.byteLength === 0) return;
  const problem = isEmptied ? "it is not empty" : "it has files that no commit has";
  throw new BuiltinError("BUILTIN_FAILED", `Cannot get the sources into "${folder}": ${problem}`, {
    hint: "Give disposable: true if everything in it may be removed.",
  });
}

const LOCKS = ["index.lock", "shallow.lock", "HEAD.lock", "config.lock"];

/** Removes what a killed git has left in a repository and in those of its submodules, and would stop at. */
export function removeStaleLocks(gitDir: string): void {
  if (lstatSync(gitDir, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of [...LOCKS, "hooks/post-checkout"]) rmSync(join(gitDir, name), { force: true });
  for (const path of filesBelow(join(gitDir, "refs"))) if (path.endsWith(".lock")) rmSync(path, { force: true });
  for (const path of filesBelow(join(gitDir, "modules"))) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (LOCKS.includes(name) || path.endsWith("/hooks/post-checkout")) rmSync(path, { force: true });
  }
}

function* filesBelow(folder: string): Generator<string> {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}
