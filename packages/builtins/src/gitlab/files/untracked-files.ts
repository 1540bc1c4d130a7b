import type { BuiltinPlace } from "../../images/builtin-images.ts";
import { CheckoutGit } from "../../checkout/checkout-git.ts";

/**
 * The files of the project that git does not track, those that it ignores too: `git ls-files -o -z`.
 *
 * @throws {BuiltinError} BUILTIN_FAILED where the project is no repository @throws {CacheError} GIT_MISSING
 */
export async function untrackedFiles({ env, workDir, log }: BuiltinPlace): Promise<string[]> {
  const place = { env, workDir, log, setOutput() {} };
  return await CheckoutGit.with(place, [workDir], async (git) => {
    const listed = await git.run(["-C", workDir, "ls-files", "--others", "-z"], { action: "list untracked files" });
    // A repository inside of the project is one entry, with a slash at its end.
    return listed.split("\0").flatMap((path) => (path === "" ? [] : [path.replace(/\/$/, "")]));
  });
}
