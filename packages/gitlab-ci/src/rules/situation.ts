/** Something that may have to be waited for. */
type Awaitable<T> = T | Promise<T>;

/** The place in which `rules:exists` looks for files: the commit of the pipeline when both fields are absent. */
export interface FilesOf {
  /** The path of another project. */
  readonly project?: string | undefined;
  /** The branch, tag or commit; the default branch of the project when absent. */
  readonly ref?: string | undefined;
}

/** Why a pipeline runs and for what: all that rules can ask besides variables. The caller owns it. */
export interface Situation {
  /** The event that started the pipeline, as in `CI_PIPELINE_SOURCE`: `push`, `merge_request_event`, `schedule`, `web`, … */
  readonly source: string;
  /** The name of the branch or tag; absent when neither is checked out. */
  readonly ref?: string | undefined;
  /** Whether `ref` is a tag; no by default. */
  readonly isTag?: boolean | undefined;
  /** The path of the project, `group/name`, which `only: [main@group/name]` asks for. */
  readonly projectPath?: string | undefined;
  /** Whether the project has a Kubernetes cluster; no by default. */
  readonly hasKubernetes?: boolean | undefined;
  /**
   * The files that changed, as paths from the top of the repository: since the named commit, or in what started the pipeline.
   * `undefined` when there is nothing to compare with, such as for a tag; then every rule with `changes` matches. Without the
   * function nothing can be compared.
   *
   * @throws {SituationError} when `compareTo` names no commit.
   */
  readonly changedFiles?: (compareTo: string | undefined) => Awaitable<readonly string[] | undefined>;
  /**
   * The files that git tracks, as paths from the top of the repository, without folders. Without the function there are none.
   *
   * @throws {SituationError} when there is no such project or ref.
   */
  readonly trackedFiles?: (from: FilesOf) => Awaitable<readonly string[]>;
}

/** A rule asks for a commit or project that there is not. GitLab refuses the pipeline for it. */
export class SituationError extends Error {
  override readonly name = "SituationError";
}

/** Whether the pipeline is one of a merge request. */
export function isMergeRequest({ source }: Situation): boolean {
  return source === "merge_request_event";
}

/** Whether the pipeline is one of a branch: of no tag and no merge request. The branch may be without a name. */
export function isBranch(situation: Situation): boolean {
  return situation.isTag !== true && !isMergeRequest(situation);
}
