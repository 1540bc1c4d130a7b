import { chownSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGitRepository } from "@steps/testkit";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTemplate, makeWorld, type Template, type World } from "./checkout-world.ts";

let template: Template;
let root: World["root"];
let project: World["project"];
let workspace: World["workspace"];
let first: World["first"];
let second: World["second"];
let fetched: World["fetched"];
let git: World["git"];
let checkout: World["checkout"];
let read: World["read"];
let goOffline: World["goOffline"];

beforeAll(async () => {
  template = await makeTemplate();
});

beforeEach(async () => {
  ({ root, project, workspace, first, second, fetched, git, checkout, read, goOffline } = await makeWorld(template));
});

describe("with a path", () => {
  test("takes the job's commit from the workspace, without a server", async () => {
    await fetched({ depth: 1 });
    goOffline();
    const { outputs } = await checkout({ path: "copy" });
    expect(outputs).toEqual({ ref: "refs/heads/main", commit: second });
    expect(read("copy/a.txt")).toBe("two");
    expect(await git(join(workspace, "copy"), "rev-list", "--count", "HEAD")).toBe("1");
    expect(await git(workspace, "rev-parse", "HEAD")).toBe(second);
  });

  test("takes other refs from the server, as deep as asked", async () => {
    await fetched({ depth: 1 });
    await checkout({ path: "deep/copy", ref: "dev" });
    const copy = join(workspace, "deep/copy");
    expect(await git(copy, "rev-list", "--count", "HEAD")).toBe("1");
    expect(await git(copy, "symbolic-ref", "HEAD")).toBe("refs/heads/dev");
    expect(await git(copy, "rev-parse", "--abbrev-ref", "dev@{upstream}")).toBe("origin/dev");
    expect(await git(copy, "config", "remote.origin.url")).toBe(project.url);
    await checkout({ path: "whole", ref: "dev", "fetch-depth": "0" });
    const whole = join(workspace, "whole");
    expect(await git(whole, "rev-list", "--count", "HEAD")).toBe("2");
    expect(await git(whole, "rev-parse", "origin/main", "v1")).toBe(`${second}\n${first}`);
    await checkout({ path: "two", ref: second, "fetch-depth": "2" });
    expect(await git(join(workspace, "two"), "rev-list", "--count", "HEAD")).toBe("2");
  });

  test("checks out a part of the tree", async () => {
    await fetched();
    await checkout({ path: "part", "sparse-checkout": "src\n" });
    expect(readdirSync(join(workspace, "part")).toSorted()).toEqual([".git", "a.txt", "src"]);
    await checkout({ path: "exact", "sparse-checkout": "/docs/*", "sparse-checkout-cone-mode": "false" });
    expect(readdirSync(join(workspace, "exact")).toSorted()).toEqual([".git", "docs"]);
    const { warnings } = await checkout({ "sparse-checkout": "src" });
    expect(warnings.join("\n")).toContain("sparse-checkout");
    expect(read("docs/y")).toBe("y");
  });

  test("may be used again: the tree is cleaned unless that is refused", async () => {
    await fetched();
    await checkout({ path: "copy" });
    writeFileSync(join(workspace, "copy/a.txt"), "changed");
    writeFileSync(join(workspace, "copy/new"), "new");
    await checkout({ path: "copy", ref: "dev", clean: "false" });
    expect([read("copy/a.txt"), read("copy/new")]).toEqual(["dev", "new"]);
    await checkout({ path: "copy" });
    expect(read("copy/a.txt")).toBe("two");
    expect(existsSync(join(workspace, "copy/new"))).toBe(false);
  });

  test("does not touch what is something else", async () => {
    await fetched();
    await expect(checkout({ path: "src" })).rejects.toMatchObject({
      code: "BUILTIN_FAILED",
      message: expect.stringContaining("something else"),
    });
    await createGitRepository(join(workspace, "other"), { mine: "m" });
    await expect(checkout({ path: "other" })).rejects.toMatchObject({ code: "BUILTIN_FAILED" });
    expect([read("src/x"), read("other/mine")]).toEqual(["x", "m"]);
    await expect(checkout({ path: "../out" })).rejects.toMatchObject({ code: "BUILTIN_FAILED" });
    expect(existsSync(join(workspace, "../out"))).toBe(false);
  });

  test("is the workspace if it says so", async () => {
    await fetched();
    expect((await checkout({ path: "." })).log.join("\n")).toContain("in place");
  });

  test("works for repositories of SHA-256", async () => {
    const newer = await createGitRepository(join(root, "served/newer"), { f: "f" }, { objectFormat: "sha256" });
    const commit = await newer.revision();
    mkdirSync(workspace, { recursive: true });
    const { outputs } = await checkout({ path: "copy" }, { GITHUB_SHA: commit, CI_REPOSITORY_URL: newer.url });
    expect(outputs["commit"]).toBe(commit);
    expect(read("copy/f")).toBe("f");
  });

  test.skipIf(process.getuid?.() !== 0)(
    "works where the workspace belongs to another user, and tells the user's git",
    async () => {
      await fetched();
      for (const path of [workspace, join(workspace, ".git")]) chownSync(path, 65_534, 65_534);
      await checkout({ path: "copy" });
      expect(read("copy/a.txt")).toBe("two");
      await checkout({ ref: "dev", "set-safe-directory": "false" });
      expect(existsSync(join(root, "home/.gitconfig"))).toBe(false);
      await checkout({ ref: "v1" });
      await checkout({ ref: "v1" });
      expect(readFileSync(join(root, "home/.gitconfig"), "utf8").split(workspace)).toHaveLength(2);
    },
  );
});
