import { BuiltinError } from "../builtin-error.ts";

/** The ref or commit to check out. */
export interface Wanted {
  /** As it is given back: `refs/heads/main`; empty for a commit. */
  readonly ref: string;
  /** The full id, where it is known without asking. */
  readonly commit: string | undefined;
  /** Full names under which a server may have it, the first that is there counts. */
  readonly names: readonly string[];
  /** True when it is the job's own commit, because the inputs name no other. */
  readonly isDefault: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;
// Matches the names that `git check-ref-format` refuses, and those that look like an option.
const BAD_REF = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|^-|^\/|\/$|\/\/|\.$|\.lock(?:\/|$)|(?:^|\/)\./;
const MAX_REF_LENGTH = 1024;

/** Reads `ref`. Empty is the job's ref at the job's commit, and so is the job's ref by its name. @throws {BuiltinError} BUILTIN_FAILED */
export function readRef(text: string, env: Environment): Wanted {
  const job = jobRef(env);
  const commit = [env["GITHUB_SHA"], env["CI_COMMIT_SHA"]].find((id) => id !== undefined && COMMIT.test(id));
  if (text === "") return { ref: job, commit: commit?.toLowerCase(), names: [], isDefault: true };
  if (COMMIT.test(text)) return { ref: "", commit: text.toLowerCase(), names: [], isDefault: false };
  if (text.length > MAX_REF_LENGTH || BAD_REF.test(text)) {
    throw new BuiltinError("BUILTIN_FAILED", `Cannot check out ref "${text.slice(0, 200)}": no ref has such a name`);
  }
  const isJobs = commit !== undefined && job !== "" && (text === job || text === shortName(job));
  return {
    ref: text,
    commit: isJobs ? commit.toLowerCase() : undefined,
    names: namesOf(text, isJobs ? job : ""),
    isDefault: false,
  };
}

/** The branch that a full name is of. */
export function branchOf(name: string | undefined): string | undefined {
  return name?.startsWith("refs/heads/") === true ? name.slice("refs/heads/".length) : undefined;
}

function jobRef(env: Environment): string {
  const { GITHUB_REF, CI_COMMIT_TAG, CI_COMMIT_BRANCH, CI_MERGE_REQUEST_IID } = env;
  if (nonEmpty(GITHUB_REF)) return GITHUB_REF;
  if (nonEmpty(CI_COMMIT_TAG)) return `refs/tags/${CI_COMMIT_TAG}`;
  if (nonEmpty(CI_MERGE_REQUEST_IID)) return `refs/pull/${CI_MERGE_REQUEST_IID}/merge`;
  return nonEmpty(CI_COMMIT_BRANCH) ? `refs/heads/${CI_COMMIT_BRANCH}` : "";
}

function nonEmpty(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}

function shortName(ref: string): string {
  return ref.replace(/^refs\/(?:heads|tags|pull)\//, "");
}

function namesOf(text: string, job: string): string[] {
  if (job !== "" && text !== job) return namesOf(job, job);
  // GitLab keeps merge requests under a name of its own.
  const pull = /^refs\/pull\/(\d+)\/(head|merge)$/.exec(text);
  if (pull !== null) return [text, `refs/merge-requests/${pull[1]}/${pull[2]}`];
  return text.startsWith("refs/") ? [text] : [`refs/heads/${text}`, `refs/tags/${text}`];
}
