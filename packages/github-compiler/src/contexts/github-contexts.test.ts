import type { Value } from "@steps/model";
import { describe, expect, test } from "vitest";
import { type GithubContexts, githubContexts } from "./github-contexts.ts";
import { githubEnvironment } from "./github-environment.ts";
import type { GithubFacts } from "./github-facts.ts";

const FACTS: GithubFacts = {
  workspace: "/builds/g/p",
  runnerTemp: "/tmp/r",
  toolCache: "/cache/tools",
  runnerName: "host",
  os: "linux",
  arch: "x64",
};

const BRANCH = {
  CI_PIPELINE_SOURCE: "push",
  CI_PROJECT_PATH: "group/sub/project",
  CI_PROJECT_NAMESPACE: "group/sub",
  CI_PROJECT_ID: "7",
  CI_PROJECT_NAMESPACE_ID: "5",
  CI_PROJECT_URL: "https://gitlab.example/group/sub/project",
  CI_DEFAULT_BRANCH: "main",
  CI_COMMIT_SHA: "a".repeat(40),
  CI_COMMIT_BEFORE_SHA: "b".repeat(40),
  CI_COMMIT_BRANCH: "topic",
  CI_COMMIT_REF_NAME: "topic",
  CI_COMMIT_REF_PROTECTED: "false",
  CI_COMMIT_MESSAGE: "Do it\n\nNow",
  CI_COMMIT_AUTHOR: "Ann Other <ann@example.com>",
  CI_COMMIT_TIMESTAMP: "2026-01-02T03:04:05+00:00",
  CI_PIPELINE_ID: "100",
  CI_PIPELINE_IID: "3",
  CI_CONFIG_PATH: ".gitlab-ci.yml",
  CI_JOB_NAME: "unit test",
  CI_JOB_NAME_SLUG: "unit-test",
  CI_RUNNER_DESCRIPTION: "runner 1",
  GITLAB_USER_LOGIN: "ann",
  GITLAB_USER_ID: "9",
  CI_JOB_TOKEN: "secret",
};

const REQUEST = {
  ...BRANCH,
  CI_PIPELINE_SOURCE: "merge_request_event",
  CI_COMMIT_BRANCH: "",
  CI_COMMIT_REF_NAME: "refs/merge-requests/12/head",
  CI_MERGE_REQUEST_IID: "12",
  CI_MERGE_REQUEST_TITLE: "Draft: a change",
  CI_MERGE_REQUEST_DRAFT: "true",
  CI_MERGE_REQUEST_LABELS: "bug, needs review",
  CI_MERGE_REQUEST_PROJECT_URL: "https://gitlab.example/group/sub/project",
  CI_MERGE_REQUEST_PROJECT_PATH: "group/sub/project",
  CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: "fork/project",
  CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
  CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: "topic",
  CI_MERGE_REQUEST_DIFF_BASE_SHA: "c".repeat(40),
};

interface Read extends GithubContexts {
  /** In the order they were asked for. */
  readonly asked: readonly string[];
}

function read(variables: Readonly<Record<string, string>>, facts: Partial<GithubFacts> = {}): Read {
  const asked: string[] = [];
  const contexts = githubContexts(
    (name) => {
      asked.push(name);
      return variables[name];
    },
    { ...FACTS, ...facts },
  );
  return { ...contexts, asked };
}

function plain(value: Value): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe("github", () => {
  test("is made of the variables of a branch", () => {
    const { github, event } = read(BRANCH);
    expect(plain({ ...github, event: null })).toEqual({
      repository: "group/sub/project",
      repository_id: "7",
      repository_owner: "group/sub",
      repository_owner_id: "5",
      sha: "a".repeat(40),
      actor: "ann",
      triggering_actor: "ann",
      actor_id: "9",
      workflow: ".gitlab-ci.yml",
      workflow_ref: "group/sub/project/.gitlab-ci.yml@refs/heads/topic",
      workflow_sha: "a".repeat(40),
      run_id: "100",
      run_number: "3",
      run_attempt: "1",
      job: "unit-test",
      workspace: "/builds/g/p",
      server_url: "https://github.com",
      api_url: "https://api.github.com",
      graphql_url: "https://api.github.com/graphql",
      token: "",
      retention_days: "90",
      ref: "refs/heads/topic",
      ref_name: "topic",
      ref_type: "branch",
      ref_protected: false,
      base_ref: "",
      head_ref: "",
      event_name: "push",
      event: null,
    });
    expect(github["event"]).toBe(event);
    expect(plain(event)).toEqual({
      repository: {
        id: 7,
        name: "project",
        full_name: "group/sub/project",
        owner: { login: "group/sub" },
        default_branch: "main",
        html_url: "https://gitlab.example/group/sub/project",
        clone_url: "https://gitlab.example/group/sub/project.git",
      },
      sender: { login: "ann" },
      ref: "refs/heads/topic",
      before: "b".repeat(40),
      after: "a".repeat(40),
      head_commit: {
        id: "a".repeat(40),
        message: "Do it\n\nNow",
        timestamp: "2026-01-02T03:04:05+00:00",
        author: { name: "Ann Other", email: "ann@example.com" },
      },
      commits: [expect.objectContaining({ id: "a".repeat(40) })],
      pusher: { name: "ann" },
    });
  });

  test("is made of the variables of a merge request", () => {
    const { github, event } = read(REQUEST);
    expect(github).toMatchObject({
      event_name: "pull_request",
      ref: "refs/pull/12/merge",
      ref_name: "12/merge",
      ref_type: "branch",
      base_ref: "main",
      head_ref: "topic",
    });
    expect(plain(event)).toMatchObject({
      action: "synchronize",
      number: 12,
      pull_request: {
        number: 12,
        title: "Draft: a change",
        draft: true,
        html_url: "https://gitlab.example/group/sub/project/-/merge_requests/12",
        base: { ref: "main", sha: "c".repeat(40), repo: { full_name: "group/sub/project" } },
        head: { ref: "topic", sha: "a".repeat(40), repo: { full_name: "fork/project" } },
        labels: [{ name: "bug" }, { name: "needs review" }],
      },
    });
  });

  test("is made of the variables of a tag", () => {
    const variables = { ...BRANCH, CI_COMMIT_BRANCH: "", CI_COMMIT_TAG: "v1.2", CI_COMMIT_REF_PROTECTED: "true" };
    expect(read(variables).github).toMatchObject({
      ref: "refs/tags/v1.2",
      ref_name: "v1.2",
      ref_type: "tag",
      ref_protected: true,
      event_name: "push",
    });
  });

  test.each([
    ["push", "push"],
    ["merge_request_event", "pull_request"],
    ["schedule", "schedule"],
    ["web", "workflow_dispatch"],
    ["api", "workflow_dispatch"],
    ["trigger", "repository_dispatch"],
    ["pipeline", "repository_dispatch"],
    ["parent_pipeline", "repository_dispatch"],
    ["chat", "push"],
    ["constructor", "push"],
    ["", "push"],
  ])("takes the pipeline source %j for the event %j", (source, expected) => {
    expect(read({ ...BRANCH, CI_PIPELINE_SOURCE: source }).github["event_name"]).toBe(expected);
  });

  test("falls back to git outside of CI", () => {
    const gitFacts = { sha: "d".repeat(40), refName: "main", repository: "me/mine", user: "Me" };
    const { github, event } = read({}, { gitFacts });
    expect(github).toMatchObject({
      repository: "me/mine",
      repository_owner: "me",
      sha: "d".repeat(40),
      ref: "refs/heads/main",
      actor: "Me",
      run_id: "1",
      run_number: "1",
      job: "",
      workflow: "",
      workflow_ref: "",
      event_name: "push",
    });
    expect(plain(event)).toMatchObject({ repository: { name: "mine" }, after: "d".repeat(40) });
    expect(read({}, { gitFacts: { refName: "v1", isTag: true } }).github).toMatchObject({
      ref: "refs/tags/v1",
      ref_type: "tag",
    });
  });

  test("is empty where nothing is known", () => {
    const { github, event } = read({});
    expect(github).toMatchObject({ ref: "", sha: "", repository: "", repository_owner: "", event_name: "push" });
    expect(plain(event)).toEqual({});
  });

  test("lets what it is told win", () => {
    const facts = {
      eventName: "release",
      event: { action: "published" },
      actor: "bot",
      workflow: "CI",
      workflowPath: ".github/workflows/ci.yml",
      job: "test",
      serverUrl: "https://gitlab.example",
      token: "t0ken",
      eventPath: "/e.json",
    };
    const { github, event } = read(BRANCH, facts);
    expect(github).toMatchObject({
      event_name: "release",
      actor: "bot",
      workflow: "CI",
      workflow_ref: "group/sub/project/.github/workflows/ci.yml@refs/heads/topic",
      job: "test",
      server_url: "https://gitlab.example",
      token: "t0ken",
      event_path: "/e.json",
    });
    expect(event).toEqual({ action: "published" });
  });
});

describe("variables", () => {
  test.each([
    ["a branch", BRANCH],
    ["a merge request", REQUEST],
  ])("are asked for once each for %s, and never the token", (_, variables) => {
    const { asked, github } = read(variables);
    expect(asked).toEqual([...new Set(asked)]);
    expect(asked).not.toContain("CI_JOB_TOKEN");
    expect(JSON.stringify(github)).not.toContain("secret");
  });

  test("are not asked for where they do not matter", () => {
    const { asked } = read({ ...BRANCH, CI_COMMIT_TAG: "v1" });
    expect(asked.filter((name) => name.startsWith("CI_MERGE_REQUEST") || name === "CI_COMMIT_BRANCH")).toEqual([]);
    expect(read(BRANCH, { eventName: "push", actor: "x" }).asked).not.toContain("CI_PIPELINE_SOURCE");
  });
});

describe("runner", () => {
  test.each([
    ["linux", "x64", "Linux", "X64"],
    ["win32", "ia32", "Windows", "X86"],
    ["darwin", "arm64", "macOS", "ARM64"],
    ["linux", "arm", "Linux", "ARM"],
    ["Linux", "ARM64", "Linux", "ARM64"],
    ["freebsd", "riscv64", "freebsd", "riscv64"],
  ])("calls %s on %s %s on %s", (os, arch, expectedOs, expectedArch) => {
    expect(read({}, { os, arch }).runner).toMatchObject({ os: expectedOs, arch: expectedArch });
  });

  test("knows its name and folders", () => {
    expect(plain({ ...read(BRANCH).runner })).toEqual({
      name: "runner 1",
      os: "Linux",
      arch: "X64",
      temp: "/tmp/r",
      tool_cache: "/cache/tools",
      workspace: "/builds/g",
      environment: "self-hosted",
    });
    expect(read({}).runner["name"]).toBe("host");
    expect(read({ AGENT_TOOLSDIRECTORY: "/a" }).runner["tool_cache"]).toBe("/a");
    expect(read({ AGENT_TOOLSDIRECTORY: "/a", RUNNER_TOOL_CACHE: "/b" }).runner["tool_cache"]).toBe("/b");
  });

  test.each([
    ["/a/b/", "/a"],
    ["/a", "/"],
    ["C:\\x\\y", "C:\\x"],
  ])("has the folder around %s for a workspace", (workspace, expected) => {
    expect(read({}, { workspace }).runner["workspace"]).toBe(expected);
  });

  test("says when it debugs, and nothing otherwise", () => {
    expect(read({}).runner).not.toHaveProperty("debug");
    expect(read({}, { isDebug: true }).runner["debug"]).toBe("1");
    expect(read({ CI_DEBUG_TRACE: "true" }).runner["debug"]).toBe("1");
  });
});

describe("the environment", () => {
  test("has what GitHub lists, and neither the token nor the event", () => {
    const { github, runner } = read(REQUEST, { token: "t0ken", eventPath: "/e.json" });
    const env = githubEnvironment(
      { ...github, action: "__run", action_path: null, own: "x", env: "/f/env", path: "/f/path" },
      runner,
    );
    expect(env).toMatchObject({
      GITHUB_ACTION: "__run",
      GITHUB_BASE_REF: "main",
      GITHUB_ENV: "/f/env",
      GITHUB_EVENT_NAME: "pull_request",
      GITHUB_EVENT_PATH: "/e.json",
      GITHUB_PATH: "/f/path",
      GITHUB_REF_PROTECTED: "false",
      GITHUB_RUN_ATTEMPT: "1",
      RUNNER_OS: "Linux",
      RUNNER_TOOL_CACHE: "/cache/tools",
      RUNNER_ENVIRONMENT: "self-hosted",
    });
    for (const name of ["GITHUB_TOKEN", "GITHUB_EVENT", "GITHUB_OWN", "GITHUB_ACTION_PATH", "RUNNER_DEBUG"]) {
      expect(env).not.toHaveProperty(name);
    }
    expect(Object.values(env)).not.toContain("t0ken");
  });

  test("keeps what is empty", () => {
    const { github, runner } = read(BRANCH);
    expect(githubEnvironment(github, runner)).toMatchObject({ GITHUB_HEAD_REF: "", GITHUB_BASE_REF: "" });
  });
});
