import type { Remote } from "@steps/transfer";
import { BuiltinError } from "../builtin-error.ts";
import type { CheckoutGit } from "./checkout-git.ts";
import type { CheckoutInputs } from "./checkout-inputs.ts";
import type { CheckoutPlace } from "./checkout-place.ts";
import type { Source } from "./checkout-source.ts";

/** A tree that is checked out. */
export interface CheckedOut {
  readonly tree: string;
  readonly inputs: CheckoutInputs;
  readonly source: Source | undefined;
  readonly place: CheckoutPlace;
  readonly warn: (line: string) => void;
}

/**
 * Brings the submodules. They may be on any server that is spoken to by HTTPS; those on the project's own, which are often named by
 * SSH, are fetched like the project.
 */
export async function updateSubmodules(git: CheckoutGit, { tree, inputs, source, place }: CheckedOut): Promise<void> {
  if (inputs.submodules === "none") return;
  const remote = source?.remote;
  const recursive = inputs.submodules === "recursive" ? ["--recursive"] : [];
  const depth = inputs.fetchDepth === 0 ? [] : [`--depth=${inputs.fetchDepth ?? 1}`];
  const options = { action: "bring the submodules", remote };
  const settings = settingsFor(remote);
  await git.run([...settings, "-C", tree, "submodule", "--quiet", "sync", ...recursive], options);
  // Submodules are only checked out, even where the configuration asks for a merge or a command.
  const update = ["submodule", "--quiet", "update", "--init", "--checkout", "--force", ...depth, ...recursive];
  await git.run([...settings, "-C", tree, ...update], options);
  place.log("Brought the submodules");
}

/** Settings by which submodules on the server of the project are fetched as the project is. */
export function settingsFor(remote: Remote | undefined): string[] {
  const settings = ["protocol.https.allow=always", "protocol.ssh.allow=always"];
  // The URLs of submodules may be relative to that of the origin. The origin of the workspace may hold credentials,
  // which would be written down, so the URL without them is set here.
  if (remote !== undefined) settings.push(`remote.origin.url=${remote.location}`);
  if (remote !== undefined && remote.scheme.startsWith("http")) {
    const { origin, hostname } = new URL(remote.url);
    settings.push(`url.${origin}/.insteadOf=git@${hostname}:`, `url.${origin}/.insteadOf=ssh://git@${hostname}/`);
  }
  return settings.flatMap((setting) => ["-c", setting]);
}

/** Brings the files that are kept by git-lfs. @throws {BuiltinError} BUILTIN_FAILED */
export async function updateLfs(git: CheckoutGit, { tree, inputs, source, place }: CheckedOut): Promise<void> {
  if (!inputs.lfs) return;
  if ((await git.try(["lfs", "version"])).code !== 0) {
    throw new BuiltinError("BUILTIN_FAILED", 'Cannot bring files of git-lfs: there is no "git lfs"', {
      hint: "Use an image that has git-lfs, or leave out lfs.",
    });
  }
  const options = { action: "bring files of git-lfs", remote: source === undefined ? undefined : source.remote };
  await git.run(["-C", tree, "lfs", "install", "--local", "--skip-repo"], options);
  // The one of the workspace may be missing, or hold credentials of an earlier job.
  const origin = source === undefined ? [] : ["-c", `remote.origin.url=${source.remote.location}`];
  await git.run([...origin, "-C", tree, "lfs", "pull", "origin"], options);
  place.log("Brought the files of git-lfs");
}
