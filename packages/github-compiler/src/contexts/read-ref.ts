import type { GitFacts } from "./github-facts.ts";
import { firstOf, type ReadVariable } from "./variable-reader.ts";

/** The branch, tag or request that is built. */
export interface Ref {
  /** `refs/heads/main`, `refs/tags/v1`, `refs/pull/3/merge`; empty when nothing is known. */
  readonly ref: string;
  /** `main`, `v1`, `3/merge`. */
  readonly name: string;
  readonly type: "branch" | "tag";
  /** The number of the merge request. */
  readonly request: string | undefined;
}

/** Parses the full name of a ref. */
export function refOf(ref: string): Ref {
  const name = ref.replace(/^refs\/(?:heads|tags|pull)\//, "");
  const request = /^refs\/pull\/(\d+)\//.exec(ref)?.[1];
  return { ref, name, type: ref.startsWith("refs/tags/") ? "tag" : "branch", request };
}

/** Reads what is built from the variables of a tag, a merge request or a branch, else from git. */
export function readRef(read: ReadVariable, git: GitFacts = {}): Ref {
  const tag = read("CI_COMMIT_TAG");
  if (tag !== undefined) return { ref: `refs/tags/${tag}`, name: tag, type: "tag", request: undefined };
  const request = read("CI_MERGE_REQUEST_IID");
  if (request !== undefined) {
    return { ref: `refs/pull/${request}/merge`, name: `${request}/merge`, type: "branch", request };
  }
  const branch = firstOf(read, "CI_COMMIT_BRANCH", "CI_COMMIT_REF_NAME");
  const name = branch ?? git.refName ?? "";
  const type = branch === undefined && git.isTag === true ? "tag" : "branch";
  const folder = type === "tag" ? "refs/tags/" : "refs/heads/";
  return { ref: name === "" ? "" : folder + name, name, type, request: undefined };
}
