import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGitRepository, startFileServer, tempDir } from "@steps/testkit";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { assertEnded, createKitUser, type Kit, type RunOptions, startKit } from "./github-toolkit-harness.ts";

const SHA = "0123456789abcdef0123456789abcdef01234567";
const JOB_TOKEN = "glcbt-64_job-token-of-a-test";

/** Variables of every job of GitLab. */
const JOB: Readonly<Record<string, string>> = {
  CI: "true",
  CI_COMMIT_SHA: SHA,
  CI_COMMIT_BEFORE_SHA: "f".repeat(40),
  CI_COMMIT_MESSAGE: "Change\n\nall of it",
  CI_CONFIG_PATH: ".gitlab-ci.yml",
  CI_DEFAULT_BRANCH: "main",
  CI_JOB_ID: "77",
  CI_JOB_NAME: "build it",
  CI_JOB_NAME_SLUG: "build-it",
  CI_JOB_TOKEN: JOB_TOKEN,
  CI_PIPELINE_ID: "1234",
  CI_PIPELINE_IID: "12",
  CI_PROJECT_ID: "5",
  CI_PROJECT_NAMESPACE: "group",
  CI_PROJECT_PATH: "group/project",
  CI_PROJECT_URL: "https://gitlab.example.com/group/project",
  CI_REGISTRY_PASSWORD: JOB_TOKEN,
  CI_REPOSITORY_URL: `https://gitlab-ci-token:${JOB_TOKEN}@gitlab.example.com/group/project.git`,
  GITLAB_USER_ID: "9",
  GITLAB_USER_LOGIN: "tanuki",
};

const KINDS = [
  {
    kind: "a branch",
    env: { CI_PIPELINE_SOURCE: "push", CI_COMMIT_BRANCH: "feature/x", CI_COMMIT_REF_NAME: "feature/x" },
    context: { eventName: "push", ref: "refs/heads/feature/x" },
    payload: { ref: "refs/heads/feature/x", after: SHA, before: "f".repeat(40), head_commit: { id: SHA } },
    issue: { owner: "group", repo: "project" },
  },
  {
    kind: "a tag",
    env: { CI_PIPELINE_SOURCE: "push", CI_COMMIT_TAG: "v1.2", CI_COMMIT_REF_NAME: "v1.2" },
    context: { eventName: "push", ref: "refs/tags/v1.2" },
    payload: { ref: "refs/tags/v1.2" },
    issue: { owner: "group", repo: "project" },
  },
  {
    kind: "a merge request",
    env: {
      CI_PIPELINE_SOURCE: "merge_request_event",
      CI_COMMIT_REF_NAME: "feature/x",
      CI_MERGE_REQUEST_IID: "31",
      CI_MERGE_REQUEST_TITLE: "Draft: a & b",
      CI_MERGE_REQUEST_LABELS: "bug,two words",
      CI_MERGE_REQUEST_PROJECT_PATH: "group/project",
      CI_MERGE_REQUEST_PROJECT_URL: "https://gitlab.example.com/group/project",
      CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: "feature/x",
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main",
      CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: "fork/project",
    },
    context: { eventName: "pull_request", ref: "refs/pull/31/merge" },
    payload: {
      number: 31,
      pull_request: {
        number: 31,
        title: "Draft: a & b",
        base: { ref: "main", repo: { full_name: "group/project" } },
        head: { ref: "feature/x", repo: { full_name: "fork/project" } },
        labels: [{ name: "bug" }, { name: "two words" }],
      },
    },
    issue: { owner: "group", repo: "project", number: 31 },
  },
];

let kit: Kit;

beforeAll(async () => {
  kit = await startKit(
    {
      context: `inputs: {token: {default: "\${{ github.token }}"}, ask: {}}\nruns: {using: node24, main: ../dist/context.js}`,
      tools: "inputs: {tool: {}, version: {}, archive: {}, url: {}}\nruns: {using: node20, main: ../dist/tools.js}",
    },
    { esm: ["context", "tools"] },
  );
});

afterAll(() => kit.close());

const CONTEXT = { name: "context", action: "acme/kit/context@v1" };
const readOutputs = (texts: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, /^[[{\d]/.test(text) ? JSON.parse(text) : text]),
  );

test.each(KINDS)("@actions/github in a job of $kind", async ({ env, context, payload, issue }) => {
  const user = createKitUser(kit);
  const ended = await user.ci([CONTEXT], { env: { ...JOB, ...Object.fromEntries(Object.entries(env)) } });
  assertEnded(ended, 0);
  const found = readOutputs(await ended.outputs("context"));
  expect(found).toMatchObject({
    context: {
      ...context,
      sha: SHA,
      workflow: ".gitlab-ci.yml",
      action: "context",
      actor: "tanuki",
      job: "build-it",
      runAttempt: 1,
      runNumber: 12,
      runId: 1234,
      apiUrl: "https://api.github.com",
      serverUrl: "https://github.com",
      graphqlUrl: "https://api.github.com/graphql",
      payload: { ...payload, repository: { full_name: "group/project", name: "project", owner: { login: "group" } } },
    },
    repo: { owner: "group", repo: "project" },
    issue,
  });
  // Nobody gave a token, and that of the job is no token of GitHub's.
  expect(found).toMatchObject({ "token-length": 0, "secrets-in-env": [], leaked: 0 });
  expect(found["client"]).toContain("Parameter token or opts.auth is required");
  expect(ended.text).not.toContain(JOB_TOKEN);
});

test("a token that was given, and a server", async () => {
  const answer = { status: 200, body: '{"full_name": "as it says"}', headers: { "content-type": "application/json" } };
  const server = await startFileServer({}, { onRequest: () => answer });
  onTestFinished(() => server.close());
  const user = createKitUser(kit);
  const token = "ghp_token-of-a-test-that-is-long-enough";
  const options: RunOptions = {
    args: ["--github-token", token, "--github-server-url", server.url],
    env: { ...JOB, CI_COMMIT_BRANCH: "main" },
  };
  const later = { name: "later", script: 'echo "token [$GITHUB_TOKEN] [$INPUT_TOKEN]"' };
  const ended = await user.ci([{ ...CONTEXT, inputs: { ask: "yes" } }, later], options);
  assertEnded(ended, 0);
  const found = readOutputs(await ended.outputs("context"));
  expect(found).toMatchObject({ client: "as it says", "token-length": token.length, leaked: 0 });
  expect(found["secrets-in-env"]).toEqual([]);
  expect(server.requests).toMatchObject([
    { url: "/api/v3/repos/group/project", headers: { authorization: `token ${token}` } },
  ]);
  expect(ended.stdout).toContain("token [] []\n");
  expect(ended.text).not.toContain(token);
  // The replay tells the actions the same as before, and no trace holds the secrets of it.
  const again = await user.run(["replay", join(user.dir, "trace-0.json")], options);
  assertEnded(again, 0);
  expect(again.stdout).toContain("The same");
});

test("@actions/github in a workflow of a working copy, for an event of one's own", async () => {
  const user = createKitUser(kit);
  const workflow = `
name: Triage
on: issues
jobs:
  triage:
    runs-on: ubuntu-latest
    steps:
      - {name: context, uses: acme/kit/context@v1}
      - if: github.event.issue.number == 8 && contains(github.event.issue.labels.*.name, 'bug')
        run: echo a bug
`;
  const repository = await createGitRepository(user.workspace, { ".github/workflows/triage.yml": workflow });
  await repository.git(["remote", "add", "origin", "git@gitlab.example.com:group/project.git"]);
  await repository.git(["checkout", "-q", "-b", "fix/8"]);
  const event = { action: "opened", issue: { number: 8, labels: [{ name: "bug" }, { name: "x" }] } };
  writeFileSync(join(user.dir, "event.json"), JSON.stringify(event));
  const ended = await user.run(["local", ".github/workflows/triage.yml"], {
    args: ["--event-name", "issues", "--event-file", join(user.dir, "event.json")],
  });
  assertEnded(ended, 0);
  expect(ended.stdout).toContain("a bug\n");
  expect(readOutputs(await ended.outputs("context"))).toMatchObject({
    context: {
      eventName: "issues",
      payload: event,
      sha: await repository.revision(),
      ref: "refs/heads/fix/8",
      workflow: "Triage",
      job: "triage",
    },
    repo: { owner: "group", repo: "project" },
    issue: { owner: "group", repo: "project", number: 8 },
  });
});

test("@actions/tool-cache finds what is there and keeps what is put there", async () => {
  const user = createKitUser(kit);
  const toolCache = join(user.dir, "tools");
  for (const version of ["1.4.0", "1.2.3", "2.0.0"]) addTool(toolCache, version);
  mkdirSync(join(toolCache, "dub/1.5.0", process.arch), { recursive: true });
  const files = tempDir();
  writeFileSync(join(files, "file.txt"), "in the archive");
  const archive = join(files, "x.tar.gz");
  expect(spawnSync("tar", ["-czf", archive, "-C", files, "file.txt"]).status).toBe(0);
  const server = await startFileServer({ "/file.txt": "from the server" });
  onTestFinished(() => server.close());
  const tools = {
    name: "tools",
    action: "acme/kit/tools@v1",
    inputs: { tool: "dub", version: "^1.0.0", archive, url: `${server.url}/file.txt` },
  };
  const run = async (): Promise<Record<string, unknown>> => {
    const ended = await user.ci([tools, { name: "uses", script: "dub" }], { env: { RUNNER_TOOL_CACHE: toolCache } });
    assertEnded(ended, 0);
    expect(ended.stdout).toContain("dub 1.4.0\n");
    return JSON.parse((await ended.outputs("tools"))["report"] ?? "") as Record<string, unknown>;
  };
  const own = join(toolCache, "own-tool/2.0.1", process.arch);
  const expected = {
    there: join(toolCache, "dub/1.4.0", process.arch),
    versions: ["1.2.3", "1.4.0", "2.0.0"],
    misfit: "",
    incomplete: "",
    before: [] as string[],
    own,
    ran: true,
    extracted: "in the archive",
    downloaded: "from the server",
  };
  expect(await run()).toEqual(expected);
  expect(readdirSync(join(own, "bin"))).toEqual(["own-tool"]);
  expect(await run()).toEqual({ ...expected, before: ["2.0.1"] });
});

function addTool(toolCache: string, version: string): void {
  const dir = join(toolCache, "dub", version, process.arch);
  mkdirSync(join(dir, "bin"), { recursive: true });
  writeFileSync(join(dir, "bin/dub"), `#!/bin/sh\necho dub ${version}\n`, { mode: 0o755 });
  writeFileSync(`${dir}.complete`, "");
}
