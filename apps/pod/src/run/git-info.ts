import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";
import type { GivenSituation } from "@steps/ci-project";
import { findGit } from "@steps/workspace";

/** The facts about the commit, and about the files in it, that runners are told. */
export interface GitFacts {
  /** `git_info` of the runner API. */
  readonly info: Readonly<Record<string, unknown>>;
  /** The URL that runners fetch from; undefined where there is no commit. */
  readonly url: string | undefined;
  /** Whether there are changes that no runner will see. */
  readonly isDirty: boolean;
  readonly digestOf: (paths: readonly string[]) => Promise<string | undefined>;
}

const NO_COMMIT = "0".repeat(40);

/** Reads what runners have to know of the commit of a project. The URL is that of the user, or of `origin`, or the folder itself. */
export async function readGitInfo(
  workDir: string,
  { pipeline: { commit, run }, originUrl }: Pick<GivenSituation, "pipeline" | "originUrl">,
  options: { readonly repository?: string | undefined; readonly isProtected: boolean },
): Promise<GitFacts> {
  const git = findGit(process.env);
  const ask = async (...args: readonly string[]): Promise<string | undefined> => await git?.ask(workDir, ...args);
  const top = commit === undefined ? undefined : (await ask("rev-parse", "--show-toplevel"))?.trim();
  const url = commit && (options.repository ?? originUrl ?? pathToFileURL(top ?? workDir).href);
  const { ref = "HEAD", isTag } = run;
  const branch = ref === "HEAD" ? "+HEAD:refs/remotes/origin/HEAD" : `+refs/heads/${ref}:refs/remotes/origin/${ref}`;
  return {
    url,
    info: {
      repo_url: url ?? "",
      repo_object_format: commit?.sha.length === 64 ? "sha256" : "sha1",
      ref,
      sha: commit?.sha ?? NO_COMMIT,
      before_sha: commit?.beforeSha ?? NO_COMMIT,
      ref_type: isTag ? "tag" : "branch",
      refspecs: [isTag ? `+refs/tags/${ref}:refs/tags/${ref}` : branch],
      protected: options.isProtected,
    },
    isDirty: commit !== undefined && (await ask("status", "--porcelain")) !== "",
    digestOf: async (paths) => {
      const listed = await ask("ls-tree", "-r", "HEAD", "--", ...paths);
      return listed ? createHash("sha1").update(listed).digest("hex") : undefined;
    },
  };
}
