import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTemplate, makeWorld, type Template, type World } from "./checkout-world.ts";

let template: Template;
let root: World["root"];
let project: World["project"];
let workspace: World["workspace"];
let env: World["env"];
let first: World["first"];
let second: World["second"];
let dev: World["dev"];
let fetched: World["fetched"];
let git: World["git"];
let checkout: World["checkout"];
let read: World["read"];
let goOffline: World["goOffline"];

beforeAll(async () => {
  template = await makeTemplate();
});

beforeEach(async () => {
  ({ root, project, workspace, env, first, second, dev, fetched, git, checkout, read, goOffline } =
    await makeWorld(template));
});

describe("without path and ref", () => {
  test("the tree is in place: nothing is fetched, deleted or switched", async () => {
    await fetched({ depth: 1 });
    goOffline();
    writeFileSync(join(workspace, "built"), "kept");
    writeFileSync(join(workspace, "a.txt"), "changed");
    const { outputs, log, warnings } = await checkout({
      clean: "true",
      repository: "group/project",
      "fetch-depth": "1",
    });
    expect(outputs).toEqual({ ref: "refs/heads/main", commit: second });
    expect(log.join("\n")).toContain("in place");
    expect(warnings).toEqual([]);
    expect([read("built"), read("a.txt")]).toEqual(["kept", "changed"]);
    expect(await git(workspace, "rev-parse", "HEAD")).toBe(second);
  });

  test("brings the commit into a repository that has none", async () => {
    mkdirSync(workspace, { recursive: true });
    await git(workspace, "init", "--quiet");
    expect((await checkout({})).outputs["commit"]).toBe(second);
    expect(read("a.txt")).toBe("two");
  });

  test("needs no git", async () => {
    mkdirSync(workspace, { recursive: true });
    const { outputs } = await checkout({}, { PATH: "/nowhere" });
    expect(outputs).toEqual({ ref: "refs/heads/main", commit: second });
    await expect(checkout({ ref: "v1" }, { PATH: "/nowhere" })).rejects.toMatchObject({ code: "GIT_MISSING" });
  });

  test("comes back to the job's commit after another one", async () => {
    await fetched();
    await checkout({ ref: "dev" });
    expect(read("a.txt")).toBe("dev");
    expect((await checkout({})).outputs).toEqual({ ref: "refs/heads/main", commit: second });
    expect(read("a.txt")).toBe("two");
  });

  test("stays where it is when it does not have the job's commit", async () => {
    await fetched();
    const { outputs, warnings } = await checkout({}, { GITHUB_SHA: "0".repeat(40) });
    expect(outputs["commit"]).toBe(second);
    expect(warnings.join("\n")).toContain("stays as it is");
  });

  test("fetches the tree where the runner did not", async () => {
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "cached"), "kept");
    const { outputs } = await checkout({});
    expect(outputs["commit"]).toBe(second);
    expect([read("a.txt"), read("cached")]).toEqual(["two", "kept"]);
  });

  test("uses a workspace that is no repository as it is when there is no server", async () => {
    mkdirSync(workspace, { recursive: true });
    expect((await checkout({}, { CI_REPOSITORY_URL: undefined })).outputs["commit"]).toBe(second);
    await expect(checkout({ ref: "v1" }, { CI_REPOSITORY_URL: undefined })).rejects.toMatchObject({
      code: "BUILTIN_FAILED",
    });
  });
});

describe("history", () => {
  test("of a shallow workspace is completed with depth 0, with all branches and tags", async () => {
    await fetched({ depth: 1 });
    await checkout({ "fetch-depth": "0" });
    expect(await git(workspace, "rev-list", "--count", "HEAD")).toBe("2");
    expect(await git(workspace, "rev-parse", "refs/remotes/origin/dev", "v1", "v2^{commit}")).toBe(
      [dev, first, second].join("\n"),
    );
    expect(await git(workspace, "rev-parse", "--is-shallow-repository")).toBe("false");
  });

  test("is made as long as asked, and never shorter", async () => {
    let commit = "";
    for (let index = 0; index < 4; index++) commit = await project.commit({ "a.txt": String(index) });
    env["GITHUB_SHA"] = commit;
    await fetched({ depth: 3, commit });
    await checkout({ "fetch-depth": "2" });
    expect(await git(workspace, "rev-list", "--count", "HEAD")).toBe("3");
    await checkout({ "fetch-depth": "5" });
    expect(await git(workspace, "rev-list", "--count", "HEAD")).toBe("5");
    await checkout({ "fetch-tags": "true" });
    expect(Number(await git(workspace, "rev-list", "--count", "HEAD"))).toBeGreaterThanOrEqual(5);
    expect(await git(workspace, "tag")).toBe("v1\nv2");
  });

  test("of a whole clone without a server is enough", async () => {
    await fetched();
    goOffline();
    const { warnings } = await checkout({ "fetch-depth": "0" }, { CI_REPOSITORY_URL: undefined });
    expect(warnings).toEqual([]);
    const declared = await checkout({ "fetch-depth": "0" });
    expect(declared.warnings.join("\n")).toContain("those that the workspace has");
  });

  test("that cannot be had is an error", async () => {
    await fetched({ depth: 1 });
    goOffline();
    await expect(checkout({ "fetch-depth": "0" })).rejects.toMatchObject({ code: "REPOSITORY_NOT_FOUND" });
  });
});

describe("with a ref", () => {
  test.each([
    ["a tag", "v1", () => first],
    ["a tag with a message", "refs/tags/v2", () => second],
    ["a branch", "dev", () => dev],
    ["a branch in full", "refs/heads/dev", () => dev],
  ])("switches the workspace to %s", async (_, ref, commit) => {
    await fetched({ depth: 1 });
    const { outputs } = await checkout({ ref });
    expect(outputs).toEqual({ ref, commit: commit() });
    expect(await git(workspace, "rev-parse", "HEAD")).toBe(commit());
  });

  test("switches to a commit, which the server need not be asked for when it is there", async () => {
    await fetched();
    goOffline();
    expect((await checkout({ ref: first })).outputs).toEqual({ ref: "", commit: first });
    expect(read("a.txt")).toBe("one");
  });

  test("is on the branch, so that work can be pushed", async () => {
    await fetched({ depth: 1 });
    await checkout({ ref: "dev" });
    expect(await git(workspace, "symbolic-ref", "HEAD")).toBe("refs/heads/dev");
    await checkout({ ref: "main" });
    expect(await git(workspace, "symbolic-ref", "HEAD")).toBe("refs/heads/main");
  });

  test("of the job is the job's commit, though the branch has moved on", async () => {
    await fetched();
    await project.commit({ "a.txt": "three" });
    expect((await checkout({ ref: "main" })).outputs["commit"]).toBe(second);
  });

  test("of a merge request has another name on the server", async () => {
    await project.git(["update-ref", "refs/merge-requests/3/head", dev]);
    await fetched({ depth: 1 });
    expect((await checkout({ ref: "refs/pull/3/head" })).outputs).toEqual({ ref: "refs/pull/3/head", commit: dev });
  });

  test("takes what the workspace knows when the server does not answer, and says so", async () => {
    await fetched();
    await git(workspace, "fetch", "-q", project.url, "+refs/heads/*:refs/remotes/origin/*");
    goOffline();
    const { outputs, warnings } = await checkout({ ref: "dev" });
    expect(outputs["commit"]).toBe(dev);
    expect(warnings.join("\n")).toContain('"dev" is what the workspace knows');
  });

  test("works on a machine of one's own, from its branches", async () => {
    await project.git(["clone", "-q", project.url, workspace]);
    goOffline();
    const own = { CI_REPOSITORY_URL: undefined };
    expect((await checkout({ ref: "dev" }, own)).outputs["commit"]).toBe(dev);
    expect((await checkout({ ref: "v1" }, own)).outputs["commit"]).toBe(first);
    await expect(checkout({ ref: "nowhere" }, own)).rejects.toMatchObject({ code: "REPOSITORY_NOT_FOUND" });
  });

  test("does not move a branch that has other commits", async () => {
    await project.git(["clone", "-q", project.url, workspace]);
    await git(workspace, "checkout", "-q", "-b", "dev", first);
    await git(workspace, "commit", "-q", "--allow-empty", "-m", "mine");
    const mine = await git(workspace, "rev-parse", "dev");
    await git(workspace, "checkout", "-q", "main");
    const { outputs, warnings } = await checkout({ ref: "dev" });
    expect(outputs["commit"]).toBe(dev);
    expect(await git(workspace, "rev-parse", "dev", "HEAD")).toBe(`${mine}\n${dev}`);
    expect(warnings.join("\n")).toContain("stays where it is");
  });

  test("keeps changes that are not in the way, and is an error when they are", async () => {
    await fetched();
    writeFileSync(join(workspace, "built"), "kept");
    await checkout({ ref: "v1" });
    expect(read("built")).toBe("kept");
    writeFileSync(join(workspace, "a.txt"), "changed");
    await expect(checkout({ ref: "dev" })).rejects.toMatchObject({
      code: "BUILTIN_FAILED",
      message: expect.stringContaining("overwritten"),
    });
    expect(read("a.txt")).toBe("changed");
    await checkout({ ref: "dev", clean: "true" });
    expect([read("a.txt"), existsSync(join(workspace, "built"))]).toEqual(["dev", false]);
  });

  test("that is not there is said", async () => {
    await fetched();
    await expect(checkout({ ref: "nowhere" })).rejects.toMatchObject({
      code: "REFERENCE_NOT_FOUND",
      message: expect.stringContaining('"nowhere"'),
    });
    await expect(checkout({ ref: "f".repeat(40) })).rejects.toMatchObject({ code: "REFERENCE_NOT_FOUND" });
    expect(await git(workspace, "rev-parse", "HEAD")).toBe(second);
  });

  test("does not run hooks", async () => {
    await fetched();
    mkdirSync(join(workspace, ".git/hooks"), { recursive: true });
    writeFileSync(join(workspace, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch '${root}/hooked'\n`, { mode: 0o755 });
    await checkout({ ref: "dev" });
    expect(existsSync(join(root, "hooked"))).toBe(false);
  });
});
