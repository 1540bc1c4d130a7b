import { hostWithPort } from "./remote.ts";
import type { PipelineFacts, UserFacts } from "./facts.ts";
import { serverUrl } from "./project-variables.ts";
import type { PredefinedValues } from "./values.ts";

/** The variables of the pipeline. */
export function pipelineVariables({ run }: PipelineFacts): PredefinedValues {
  const { source, id = 1, createdAt, name } = run;
  return {
    CI_PIPELINE_IID: String(id),
    CI_PIPELINE_SOURCE: source,
    CI_PIPELINE_CREATED_AT: createdAt,
    CI_PIPELINE_NAME: name,
    CI_PIPELINE_TRIGGERED: source === "trigger" ? "true" : undefined,
  };
}

/** The variables of the merge request that the pipeline runs for. */
export function mergeRequestVariables({ mergeRequest, project }: PipelineFacts): PredefinedValues {
  if (mergeRequest === undefined) return {};
  const { sourceBranch, targetBranch, baseSha, iid, title } = mergeRequest;
  const { remote, defaultBranch } = project;
  const url = remote === undefined ? undefined : `${serverUrl(remote)}/${remote.path}`;
  const number = iid === undefined ? undefined : String(iid);
  return {
    // A pipeline of the merged result would have the commits of both branches; a detached one leaves them empty.
    CI_MERGE_REQUEST_EVENT_TYPE: "detached",
    CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: "",
    CI_MERGE_REQUEST_TARGET_BRANCH_SHA: "",
    CI_MERGE_REQUEST_DIFF_BASE_SHA: baseSha,
    CI_MERGE_REQUEST_IID: number,
    CI_MERGE_REQUEST_REF_PATH: number === undefined ? undefined : `refs/merge-requests/${number}/head`,
    CI_MERGE_REQUEST_TITLE: title,
    CI_MERGE_REQUEST_PROJECT_PATH: remote?.path,
    CI_MERGE_REQUEST_PROJECT_URL: url,
    CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: remote?.path,
    CI_MERGE_REQUEST_SOURCE_PROJECT_URL: url,
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: sourceBranch,
    CI_MERGE_REQUEST_SOURCE_BRANCH_PROTECTED: String(sourceBranch === defaultBranch),
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: targetBranch,
    CI_MERGE_REQUEST_TARGET_BRANCH_PROTECTED: String(targetBranch === defaultBranch),
    CI_OPEN_MERGE_REQUESTS: remote === undefined || number === undefined ? undefined : `${remote.path}!${number}`,
  };
}

/** The variables of the user who started the pipeline. */
export function userVariables({ login, name, email }: UserFacts): PredefinedValues {
  return { GITLAB_USER_LOGIN: login, GITLAB_USER_NAME: name, GITLAB_USER_EMAIL: email };
}

/** The prefix of images that come through the server's proxy, for those that ask for it. */
export function dependencyProxyVariables({ project: { remote } }: PipelineFacts): PredefinedValues {
  if (remote?.host !== "gitlab.com") return {};
  const server = `${hostWithPort(remote)}:${remote.port}`;
  const namespace = remote.path.slice(0, remote.path.lastIndexOf("/")).toLowerCase();
  const prefix = (group: string | undefined): string => `${server}/${group ?? ""}/dependency_proxy/containers`;
  return {
    CI_DEPENDENCY_PROXY_SERVER: server,
    CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX: prefix(namespace.split("/", 1)[0]),
    CI_DEPENDENCY_PROXY_DIRECT_GROUP_IMAGE_PREFIX: prefix(namespace),
  };
}
