import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGitRepository, type GitRepository, hasProgram } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { createWorld, type World } from "./harness.ts";

const FILE = `
variables: {LEVEL: debug}
deploy:
  script: echo "deployed $LEVEL"
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $CI_PIPELINE_SOURCE != "schedule"
      variables: {LEVEL: release}
    - if: $CI_COMMIT_TAG =~ /^v\\d+/
    - if: $SECRET == "let me"
plain:
  script: echo plain
by-hand:
  script: echo by hand
  when: manual
docs:
  script: echo docs
  rules: [{changes: ["docs/**/*"]}]
since:
  script: echo since
  rules: [{changes: {paths: ["docs/**/*"], compare_to: $BASE}}]
docker:
  script: echo docker
  rules: [{exists: [Dockerfile]}]
told:
  script:
    - echo "<$CI_COMMIT_SHA> <$CI_COMMIT_TITLE> <$CI_COMMIT_BRANCH> <$CI_COMMIT_AUTHOR> <$CI_PROJECT_PATH_SLUG> <$CI_JOB_STAGE>"
    - echo "<$CI_MERGE_REQUEST_TARGET_BRANCH_NAME> <$CI_COMMIT_TAG> <$CI_COMMIT_REF_SLUG> <$CI_PIPELINE_SOURCE> <$GITLAB_USER_NAME>"
  stage: build
  rules: [{when: always}]
`;

interface Project {
  readonly world: World;
  readonly repository: GitRepository;
}

async function createProject(): Promise<Project> {
  const world = createWorld();
  const repository = await createGitRepository(world.work, { ".gitlab-ci.yml": FILE, "src/a.ts": "a" });
  await repository.git(["config", "user.name", "Ada Lovelace"]);
  await repository.git(["remote", "add", "origin", "git@gitlab.com:Some_Group/app.git"]);
  return { world, repository };
}

describe.skipIf(!hasProgram("git"))("local: a job and its rules", () => {
  test("local does not run a job that its rules exclude, and says which rules", async () => {
    const { world, repository } = await createProject();
    await repository.git(["checkout", "-q", "-b", "feature/x"]);
    const ended = await world.run(["local", "--job-name", "deploy"]);
    expect(ended).toMatchObject({ code: 0, stdout: "" });
    expect(ended.stderr).toContain('The job "deploy" is not in the pipeline: None of 3 rules matches. It is not run.');
    expect(world.runs()).toEqual([]);
    const forced = await world.run(["local", "--job-name", "deploy", "--force"]);
    expect(forced).toMatchObject({ code: 0, stdout: expect.stringContaining("deployed debug\n") });
    expect(forced.stderr).toContain("It is run all the same.");
  });

  test("local runs a job in the situation that is asked for, with the variables of the rule", async () => {
    const { world, repository } = await createProject();
    expect((await world.run(["local", "--job-name", "deploy"])).stdout).toContain("deployed release\n");
    await repository.git(["checkout", "-q", "-b", "feature/x"]);
    const run = async (...args: readonly string[]): Promise<string> =>
      (await world.run(["local", "--job-name", "deploy", ...args])).stdout.split("\n").at(-2) ?? "";
    expect(await run("--ref", "main")).toBe("deployed release");
    expect(await run("--ref", "main", "--source", "schedule")).toBe("");
    expect(await run("--tag", "v1.0")).toBe("deployed debug");
    expect(await run("--tag", "v1.0", "--variable", "LEVEL=given")).toBe("deployed given");
    writeFileSync(join(world.work, "vars.env"), "# local\nSECRET=let me\nLEVEL=file\n");
    expect(await run("--variables-file", "vars.env")).toBe("deployed file");
    expect(await run("--variables-file", "vars.env", "--variable", "SECRET=x")).toBe("");
  });

  test("local does not start a job that is started by hand, nor one without rules for a merge request", async () => {
    const { world } = await createProject();
    expect((await world.run(["local", "--job-name", "by-hand"])).stderr).toContain(
      'The job "by-hand" is started by hand.',
    );
    expect((await world.run(["local", "--job-name", "by-hand", "--force"])).stdout).toContain("by hand\n");
    expect((await world.run(["local", "--job-name", "plain"])).stdout).toContain("plain\n");
    const merge = await world.run(["local", "--job-name", "plain", "--merge-request", "main"]);
    expect(merge).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringContaining("pipeline of a merge request"),
    });
  });

  test("local --explain tells each rule with the values that its condition saw, and runs nothing", async () => {
    const { world } = await createProject();
    const args = ["--ref", "other", "--variable", "SECRET=no", "--mask-variable", "SECRET"];
    const ended = await world.run(["local", "--job-name", "deploy", "--explain", ...args]);
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout.split("\n")).toEqual([
      'The job "deploy" is not in the pipeline: None of 3 rules matches.',
      "  rule 1 (.gitlab-ci.yml:6) does not match",
      '    if: no, $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $CI_PIPELINE_SOURCE != "schedule"',
      '      $CI_COMMIT_BRANCH is "other"',
      '      $CI_DEFAULT_BRANCH is "main"',
      '      $CI_PIPELINE_SOURCE != "schedule" was not looked at',
      "  rule 2 (.gitlab-ci.yml:8) does not match",
      String.raw`    if: no, $CI_COMMIT_TAG =~ /^v\d+/`,
      "      $CI_COMMIT_TAG is not set",
      "  rule 3 (.gitlab-ci.yml:9) does not match",
      '    if: no, $SECRET == "let me"',
      "      $SECRET is [MASKED]",
      "",
    ]);
    expect(world.runs()).toEqual([]);
  });

  test("local sees what changed in the working tree and which files there are", async () => {
    const { world, repository } = await createProject();
    const runs = async (job: string, ...args: readonly string[]): Promise<boolean> =>
      (await world.run(["local", "--job-name", job, ...args])).stdout !== "";
    expect(await runs("docker")).toBe(false);
    await repository.commit({ "src/a.ts": "b" });
    expect(await runs("docs")).toBe(false);
    expect(await runs("docs", "--source", "schedule")).toBe(true);
    writeFileSync(join(world.work, "Dockerfile"), "");
    expect(await runs("docker")).toBe(true);
    await repository.commit({ "docs/a.md": "a" });
    expect(await runs("docs")).toBe(true);
    await repository.commit({ "src/a.ts": "c" });
    expect(await runs("docs")).toBe(false);
    expect(await runs("docs", "--changes-since", "HEAD~2")).toBe(true);
    expect(await runs("since", "--variable", "BASE=HEAD~2")).toBe(true);
    expect(await runs("since", "--variable", "BASE=HEAD~1")).toBe(false);
    const wrong = await world.run(["local", "--job-name", "since", "--variable", "BASE=none"]);
    expect(wrong.stderr).toContain("There is no commit, branch or tag none");
    expect((await world.run(["local", "--job-name", "docs", "--changes-since", "none"])).code).toBe(2);
  });

  test("local gives a job the true values of its repository", async () => {
    const { world, repository } = await createProject();
    const sha = await repository.commit({ x: "x" }, "Say $HOME\n\nBecause.");
    const [first, second] = printed(await world.run(["local", "--job-name", "told"]));
    const author = (await repository.git(["log", "-1", "--format=%an <%ae>"])).trim();
    expect(first).toBe(`<${sha}> <Say $HOME> <main> <${author}> <some-group-app> <build>`);
    expect(second).toBe("<> <> <main> <push> <Ada Lovelace>");
    writeFileSync(join(world.work, "other.yml"), 'told: {script: [echo "<$CI_CONFIG_PATH>"]}\n');
    expect(printed(await world.run(["local", join(world.work, "other.yml")]))).toEqual(["<other.yml>"]);
    await repository.git(["checkout", "-q", "-b", "Feature/Y"]);
    const merge = printed(await world.run(["local", "--job-name", "told", "--merge-request", "main"]));
    expect(merge[0]).toContain("<> <");
    expect(merge[1]).toBe("<main> <> <feature-y> <merge_request_event> <Ada Lovelace>");
    expect(printed(await world.run(["local", "--job-name", "told", "--tag", "v1"]))[1]).toContain(
      "<> <v1> <v1> <push>",
    );
  });

  test("local refuses flags that contradict one another", async () => {
    const { world } = await createProject();
    for (const args of [
      ["--tag", "v1", "--ref", "main"],
      ["--source", "push", "--merge-request", "main"],
      ["--source", "nothing"],
      ["--variables-file", "none.env"],
    ]) {
      expect(await world.run(["local", "--job-name", "plain", ...args])).toMatchObject({ code: 2, stdout: "" });
    }
  });
});

describe("local: rules without a repository", () => {
  test("local runs a job without rules, and refuses a condition that is a program", async () => {
    const world = createWorld();
    const evil = `require("fs").writeFileSync("owned", "")`;
    const file = `plain: {script: echo plain}\nevil:\n  script: echo evil\n  rules:\n    - if: '${evil}'\n`;
    writeFileSync(join(world.work, ".gitlab-ci.yml"), file);
    expect((await world.run(["local", "--job-name", "plain"])).stdout).toContain("plain\n");
    const ended = await world.run(["local", "--job-name", "evil", "--force"]);
    expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("invalid-condition") });
    expect(existsSync(join(world.work, "owned"))).toBe(false);
  });
});

function printed({ stdout }: { readonly stdout: string }): readonly string[] {
  return stdout.split("\n").filter((line) => line.startsWith("<"));
}
