import { basename } from "node:path";
import { UsageError } from "@steps/console";
import type { Situation } from "@steps/gitlab-ci/rules";
import {
  type MergeRequestFacts,
  type PipelineFacts,
  readRemote,
  type Remote,
  type Variable,
} from "@steps/gitlab-ci/variables";
import { loginName } from "@steps/platform/runtime";
import { type ChangesBase, compareFiles } from "./compare-files.ts";
import { readRepository, type Repository } from "./read-repository.ts";

/** The project, the commit and the event of a pipeline on this machine. */
export interface LocalSituation {
  readonly situation: Situation;
  readonly pipeline: PipelineFacts;
  /** The URL of the remote `origin` as git has it, which may hold credentials. Absent without one. */
  readonly originUrl: string | undefined;
}

/** The same with the variables that the user gives. */
export interface GivenSituation extends LocalSituation {
  /** As rules see them. */
  readonly given: ReadonlyMap<string, Variable>;
  /** As texts. */
  readonly overrides: Readonly<Record<string, string>>;
}

/** The parts of a situation that the user gives. Those that are absent are read from the repository. */
export interface LocalSituationOptions {
  /** As in `CI_PIPELINE_SOURCE`. */
  readonly source?: string | undefined;
  /** A branch. */
  readonly ref?: string | undefined;
  readonly tag?: string | undefined;
  /** The branch that a merge request is to. */
  readonly mergeRequest?: string | undefined;
  /** A commit, branch or tag that changes are counted from. */
  readonly changesSince?: string | undefined;
  /** The URL of the project, if it is not that of its remote. */
  readonly projectUrl?: string | undefined;
}

/** Reads the situation of a project from its repository and from what the user says. @throws {UsageError} */
export async function readLocalSituation(
  options: LocalSituationOptions,
  { workDir, configPath }: { readonly workDir: string; readonly configPath: string },
): Promise<LocalSituation> {
  const repository = await readRepository(workDir, process.env);
  const { defaultBranch, commit, git, originUrl } = repository;
  const remote = options.projectUrl === undefined ? repository.remote : readProjectUrl(options.projectUrl);
  const mergeRequest = await readMergeRequest(options, repository);
  const source = options.source ?? (mergeRequest === undefined ? "push" : "merge_request_event");
  const isTag = checkRef(options);
  const ref = options.tag ?? mergeRequest?.sourceBranch ?? options.ref ?? repository.branch;
  const tagMessage = options.tag === undefined ? undefined : await readTagMessage(options.tag, repository);
  return {
    originUrl,
    situation: {
      source,
      ref,
      isTag,
      projectPath: remote?.path,
      ...compareFiles(workDir, git, changesBase(options, { source, isTag, mergeRequest, defaultBranch })),
    },
    pipeline: {
      project: { remote, folder: basename(workDir), defaultBranch, configPath },
      commit: commit && { ...commit, tagMessage },
      run: { source, ref, isTag },
      mergeRequest,
      user: {
        login: repository.userLogin ?? loginName() ?? "user",
        name: repository.userName,
        email: repository.userEmail,
      },
    },
  };
}

function readProjectUrl(url: string): Remote {
  const remote = readRemote(url);
  if (remote !== undefined) return remote;
  throw new UsageError("--project-url is no URL of a project", "Write https://host/group/name.");
}

function checkRef({ tag, ref, mergeRequest, source }: LocalSituationOptions): boolean {
  if (tag !== undefined && (ref !== undefined || mergeRequest !== undefined)) {
    throw new UsageError("--tag is given", "A pipeline of a tag is of no branch and of no merge request.");
  }
  if (source !== undefined && source !== "merge_request_event" && mergeRequest !== undefined) {
    throw new UsageError(`--source is "${source}"`, "--merge-request is for pipelines of merge requests.");
  }
  return tag !== undefined;
}

async function readMergeRequest(
  { source, mergeRequest, ref }: LocalSituationOptions,
  { branch, defaultBranch, git }: Repository,
): Promise<MergeRequestFacts | undefined> {
  if (mergeRequest === undefined && source !== "merge_request_event") return undefined;
  const targetBranch = mergeRequest ?? defaultBranch;
  const sourceBranch = ref ?? branch;
  if (targetBranch === undefined || sourceBranch === undefined) {
    const what = targetBranch === undefined ? "Name its target: --merge-request main." : "Name its branch: --ref NAME.";
    throw new UsageError("--source is merge_request_event", what);
  }
  const base = async (name: string): Promise<string | undefined> => {
    return (await git?.ask("merge-base", "--end-of-options", name, "HEAD"))?.trim();
  };
  const baseSha = (await base(`refs/remotes/origin/${targetBranch}`)) ?? (await base(targetBranch));
  return { sourceBranch, targetBranch, baseSha };
}

async function readTagMessage(tag: string, { git }: Repository): Promise<string | undefined> {
  // A tag that is only a name has the message of its commit, which is none of its own.
  const format = "--format=%(if:equals=tag)%(objecttype)%(then)%(contents)%(end)";
  const text = await git?.ask("for-each-ref", format, `refs/tags/${tag}`);
  return text === undefined || text.trim() === "" ? undefined : text.replace(/\n+$/, "");
}

interface ChangesOf {
  readonly source: string;
  readonly isTag: boolean;
  readonly mergeRequest: MergeRequestFacts | undefined;
  readonly defaultBranch: string | undefined;
}

// Only pushes to branches and merge requests change files, as GitLab sees it.
function changesBase(
  { changesSince }: LocalSituationOptions,
  { source, isTag, mergeRequest, defaultBranch }: ChangesOf,
): ChangesBase {
  if (changesSince !== undefined) return { kind: "revision", name: changesSince };
  if (mergeRequest !== undefined) return { kind: "revision", name: mergeRequest.targetBranch };
  return source === "push" && !isTag ? { kind: "push", defaultBranch } : { kind: "nothing" };
}
