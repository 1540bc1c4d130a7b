import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { CommitFacts, JobFacts, PipelineFacts } from "./facts.ts";
import { predefinedVariables } from "./predefined-variables.ts";
import { readRemote } from "./remote.ts";

const SHA = "0123456789abcdef0123456789abcdef01234567";
const BEFORE = "f".repeat(40);

const pipeline: PipelineFacts = {
  project: {
    remote: readRemote("git@gitlab.com:Group/Sub/My_App.git"),
    folder: "work",
    defaultBranch: "main",
  },
  commit: {
    sha: SHA,
    beforeSha: BEFORE,
    message: "Add $5 to it\n\nBecause.\nReally.\n",
    author: "Ada <ada@example.com>",
    timestamp: "2026-01-31T12:00:00+01:00",
  },
  run: { source: "push", ref: "feature/x", isTag: false, createdAt: "2026-01-31T11:00:00Z" },
  user: { login: "ada", name: "Ada" },
};
const commit = pipeline.commit as CommitFacts;
const job: JobFacts = { name: "test: [linux]", stage: "check", nodeIndex: 2, nodeTotal: 3 };
const runner = { projectDir: "/b/app", buildsDir: "/b", isDisposable: false };
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

function values(options: Parameters<typeof predefinedVariables>[0]): Readonly<Record<string, string>> {
  const { predefined, user, environment } = predefinedVariables(options);
  const all = [...predefined, ...user, ...environment];
  return Object.fromEntries(all.map(([name, { value }]) => [name, value]));
}

describe("predefinedVariables()", () => {
  test("predefinedVariables() of a push to a branch, as rules see them", () => {
    expect(values({ pipeline, job })).toEqual({
      CI: "true",
      GITLAB_CI: "true",
      CI_API_GRAPHQL_URL: "https://gitlab.com/api/graphql",
      CI_API_V4_URL: "https://gitlab.com/api/v4",
      CI_COMMIT_AUTHOR: "Ada <ada@example.com>",
      CI_COMMIT_BEFORE_SHA: BEFORE,
      CI_COMMIT_BRANCH: "feature/x",
      CI_COMMIT_DESCRIPTION: "\nBecause.\nReally.",
      CI_COMMIT_MESSAGE: "Add $5 to it\n\nBecause.\nReally.\n",
      CI_COMMIT_MESSAGE_IS_TRUNCATED: "false",
      CI_COMMIT_REF_NAME: "feature/x",
      CI_COMMIT_REF_PROTECTED: "false",
      CI_COMMIT_REF_SLUG: "feature-x",
      CI_COMMIT_SHA: SHA,
      CI_COMMIT_SHORT_SHA: "01234567",
      CI_COMMIT_TIMESTAMP: "2026-01-31T12:00:00+01:00",
      CI_COMMIT_TITLE: "Add $5 to it",
      CI_CONFIG_PATH: ".gitlab-ci.yml",
      CI_DEFAULT_BRANCH: "main",
      CI_DEFAULT_BRANCH_SLUG: "main",
      CI_DEPENDENCY_PROXY_DIRECT_GROUP_IMAGE_PREFIX: "gitlab.com:443/group/sub/dependency_proxy/containers",
      CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX: "gitlab.com:443/group/dependency_proxy/containers",
      CI_DEPENDENCY_PROXY_SERVER: "gitlab.com:443",
      CI_JOB_GROUP_NAME: "test",
      CI_JOB_NAME: "test: [linux]",
      CI_JOB_NAME_SLUG: "test---linux",
      CI_JOB_STAGE: "check",
      CI_NODE_INDEX: "2",
      CI_NODE_TOTAL: "3",
      CI_PAGES_DOMAIN: "gitlab.io",
      CI_PAGES_HOSTNAME: "group.gitlab.io",
      CI_PAGES_URL: "https://group.gitlab.io/sub/my_app",
      CI_PIPELINE_CREATED_AT: "2026-01-31T11:00:00Z",
      CI_PIPELINE_IID: "1",
      CI_PIPELINE_SOURCE: "push",
      CI_PROJECT_NAME: "My_App",
      CI_PROJECT_NAMESPACE: "Group/Sub",
      CI_PROJECT_NAMESPACE_SLUG: "group-sub",
      CI_PROJECT_PATH: "Group/Sub/My_App",
      CI_PROJECT_PATH_SLUG: "group-sub-my-app",
      CI_PROJECT_ROOT_NAMESPACE: "Group",
      CI_PROJECT_TITLE: "My_App",
      CI_PROJECT_URL: "https://gitlab.com/Group/Sub/My_App",
      CI_REGISTRY: "registry.gitlab.com",
      CI_REGISTRY_IMAGE: "registry.gitlab.com/group/sub/my_app",
      CI_SERVER_FQDN: "gitlab.com",
      CI_SERVER_HOST: "gitlab.com",
      CI_SERVER_NAME: "GitLab",
      CI_SERVER_PORT: "443",
      CI_SERVER_PROTOCOL: "https",
      CI_SERVER_SHELL_SSH_HOST: "gitlab.com",
      CI_SERVER_SHELL_SSH_PORT: "22",
      CI_SERVER_URL: "https://gitlab.com",
      CI_TEMPLATE_REGISTRY_HOST: "registry.gitlab.com",
      GITLAB_USER_LOGIN: "ada",
      GITLAB_USER_NAME: "Ada",
    });
  });

  test("predefinedVariables() of a tag has a tag and no branch", () => {
    const run = { ...pipeline.run, ref: "v1.0", isTag: true };
    const { CI_COMMIT_TAG, CI_COMMIT_REF_NAME, CI_COMMIT_BRANCH, CI_COMMIT_TAG_MESSAGE } = values({
      pipeline: { ...pipeline, run, commit: { ...commit, tagMessage: "First" } },
    });
    expect({ CI_COMMIT_TAG, CI_COMMIT_REF_NAME, CI_COMMIT_BRANCH, CI_COMMIT_TAG_MESSAGE }).toEqual({
      CI_COMMIT_TAG: "v1.0",
      CI_COMMIT_REF_NAME: "v1.0",
      CI_COMMIT_BRANCH: undefined,
      CI_COMMIT_TAG_MESSAGE: "First",
    });
  });

  test("predefinedVariables() of a merge request has its branches and no CI_COMMIT_BRANCH", () => {
    const found = values({
      pipeline: {
        ...pipeline,
        run: { ...pipeline.run, source: "merge_request_event" },
        mergeRequest: { sourceBranch: "feature/x", targetBranch: "main", baseSha: BEFORE, iid: 7 },
      },
    });
    expect(found).toMatchObject({
      CI_PIPELINE_SOURCE: "merge_request_event",
      CI_COMMIT_REF_NAME: "feature/x",
      CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: "feature/x",
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
      CI_MERGE_REQUEST_TARGET_BRANCH_PROTECTED: "true",
      CI_MERGE_REQUEST_DIFF_BASE_SHA: BEFORE,
      CI_MERGE_REQUEST_REF_PATH: "refs/merge-requests/7/head",
      CI_MERGE_REQUEST_EVENT_TYPE: "detached",
      CI_OPEN_MERGE_REQUESTS: "Group/Sub/My_App!7",
    });
    expect(found).not.toHaveProperty("CI_COMMIT_BRANCH");
  });

  test("predefinedVariables() of a repository without a remote or commit leaves out what is not known", () => {
    const bare = values({ pipeline: { project: { folder: "work" }, run: { ...pipeline.run, ref: undefined } } });
    expect(bare).toMatchObject({ CI_PROJECT_NAME: "work", CI_COMMIT_REF_PROTECTED: "false" });
    for (const name of ["CI_PROJECT_PATH", "CI_SERVER_URL", "CI_COMMIT_SHA", "CI_COMMIT_BRANCH", "CI_REGISTRY"]) {
      expect(bare).not.toHaveProperty(name);
    }
  });

  test("predefinedVariables() of a job that runs has what the runner knows besides", () => {
    const timed = { ...job, timeoutSeconds: 3600, image: "alpine" };
    expect(values({ pipeline, job: timed, runner })).toMatchObject({
      CI_PIPELINE_ID: "1",
      CI_JOB_ID: "1",
      CI_JOB_TIMEOUT: "3600",
      CI_JOB_IMAGE: "alpine",
      CI_REPOSITORY_URL: "git@gitlab.com:Group/Sub/My_App.git",
      CI_PROJECT_DIR: "/b/app",
      CI_BUILDS_DIR: "/b",
      CI_SERVER: "yes",
      CI_SHARED_ENVIRONMENT: "true",
    });
  });

  test("predefinedVariables() of a job with an environment has its slug and its tier", () => {
    const environment = { name: "review/App", url: "https://x" };
    const options = { pipeline, job: { ...job, environment }, sha256 };
    expect(values(options)).toMatchObject({
      CI_ENVIRONMENT_NAME: "review/App",
      CI_ENVIRONMENT_ACTION: "start",
      CI_ENVIRONMENT_TIER: "development",
      CI_ENVIRONMENT_URL: "https://x",
    });
    expect(values(options)["CI_ENVIRONMENT_SLUG"]).toMatch(/^review-app-[a-z0-9]{6}$/);
    expect(predefinedVariables(options).predefined.has("CI_ENVIRONMENT_SLUG")).toBe(false);
  });

  test("predefinedVariables() cuts a message after 100,000 bytes, at a character", () => {
    const long = { ...commit, message: "é".repeat(60_000) };
    const found = values({ pipeline: { ...pipeline, commit: long } });
    expect(found["CI_COMMIT_MESSAGE"]).toHaveLength(50_000);
    expect(found["CI_COMMIT_MESSAGE_IS_TRUNCATED"]).toBe("true");
  });
});
