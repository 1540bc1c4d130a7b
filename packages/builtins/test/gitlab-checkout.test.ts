import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGitRepository, type GitRepository, snapshot, startGitHttpServer, tempDir } from "@steps/testkit";
import type { Value } from "@steps/model";
import { describe, expect, test } from "vitest";
import type { GitlabResult } from "../src/gitlab/gitlab-step.ts";
import { getSources } from "../src/gitlab/sources/get-sources.ts";
import { type GitlabWorld, gitlabWorld } from "./gitlab-world.ts";

interface Served {
  readonly repository: GitRepository;
  readonly first: string;
  readonly second: string;
}

async function served(): Promise<Served> {
  const repository = await createGitRepository(join(tempDir(), "project"), { a: "1", ".gitignore": "ignored\n" });
  const first = await repository.revision();
  return { repository, first, second: await repository.commit({ a: "2", "sub/b": "3" }) };
}

async function checkout(world: GitlabWorld, inputs: Readonly<Record<string, Value>>): Promise<GitlabResult> {
  return await world.run("checkout", getSources, { ref: "main", ...inputs });
}

function filesOf(dir: string): Record<string, string> {
  const files = Object.entries(snapshot(dir)).filter(([name]) => !/(?:^|\/)\.git(?:\/|$)/.test(name));
  return Object.fromEntries(files);
}

const SECOND = { a: "2", "sub/b": "3", ".gitignore": "ignored\n" };

describe("gitlab/checkout", () => {
  test("fetches into an empty folder, detached, and says what it does", async () => {
    const { repository, second } = await served();
    const world = gitlabWorld();
    const { outputs } = await checkout(world, { url: repository.url, sha: second, depth: 1 });
    expect(outputs).toEqual({ sha: second, ref: "main", dir: world.project });
    expect(filesOf(world.project)).toEqual(SECOND);
    expect(readFileSync(join(world.project, ".git/HEAD"), "utf8").trim()).toBe(second);
    expect(existsSync(join(world.project, ".git/shallow"))).toBe(true);
    expect(world.said().split("\n")).toEqual([
      "Created fresh repository.",
      "Fetching changes with git depth set to 1...",
      `Checking out ${second.slice(0, 8)} as detached HEAD (ref is main)...`,
      "Skipping Git submodules setup",
    ]);
  });

  test("needs git-lfs only where .gitattributes names files of it", async () => {
    const { repository } = await served();
    const configOf = async (): Promise<string> => {
      const world = gitlabWorld();
      await checkout(world, { url: repository.url, lfs: true });
      return readFileSync(join(world.project, ".git/config"), "utf8");
    };
    expect(await configOf()).not.toContain("lfs");
    await repository.commit({ "deep/er/.gitattributes": "*.bin filter=lfs -text\n" });
    expect(await configOf().catch(String)).toContain("lfs");
  });

  test("fetches again into what is there, cleans it, and completes its history", async () => {
    const { repository, first, second } = await served();
    const world = gitlabWorld();
    await checkout(world, { url: repository.url, sha: second, depth: 1 });
    for (const name of ["new", "ignored"]) writeFileSync(join(world.project, name), "x");
    writeFileSync(join(world.project, "a"), "changed");
    for (const name of ["index.lock", "refs/heads/x.lock"]) writeFileSync(join(world.project, ".git", name), "");
    const { outputs } = await checkout(world, { url: repository.url, sha: first, disposable: true });
    expect([outputs["sha"], filesOf(world.project)]).toEqual([first, { a: "1", ".gitignore": "ignored\n" }]);
    expect(existsSync(join(world.project, ".git/shallow"))).toBe(false);
  });

  test("finds the commit of a branch or tag, and one that the depth has cut off", async () => {
    const { repository, first, second } = await served();
    await repository.tag("v1");
    const world = gitlabWorld();
    expect((await checkout(world, { url: repository.dir })).outputs["sha"]).toBe(second);
    expect((await checkout(gitlabWorld(), { url: repository.url, ref: "v1" })).outputs["sha"]).toBe(second);
    expect((await checkout(gitlabWorld(), { url: repository.url, sha: first, depth: 1 })).outputs["sha"]).toBe(first);
    await expect(checkout(gitlabWorld(), { url: repository.url, ref: "none" })).rejects.toThrow("has no such ref");
    const missing = checkout(gitlabWorld(), { url: repository.url, sha: "1".repeat(40) });
    await expect(missing).rejects.toThrow(/1{40}/);
  });

  test("clone and empty remove what is there, and none leaves all of it", async () => {
    const { repository, second } = await served();
    const world = gitlabWorld({ old: "1" });
    await checkout(world, { strategy: "none" });
    expect(filesOf(world.project)).toEqual({ old: "1" });
    await checkout(world, { url: repository.url, strategy: "clone", disposable: true });
    expect(filesOf(world.project)).toEqual(SECOND);
    expect((await checkout(world, { strategy: "none" })).outputs["sha"]).toBe(second);
    expect((await checkout(world, { strategy: "empty", disposable: true })).outputs["sha"]).toBe("");
    expect(readdirSync(world.project)).toEqual([]);
  });

  test("removes nothing that no commit has, unless the folder is disposable", async () => {
    const { repository } = await served();
    const url = repository.url;
    const world = gitlabWorld({ mine: "1" });
    for (const strategy of ["fetch", "clone", "empty"]) {
      await expect(checkout(world, { url, strategy })).rejects.toMatchObject({
        hint: "Give disposable: true if everything in it may be removed.",
      });
    }
    expect(snapshot(world.project)).toEqual({ mine: "1" });
    const clean = gitlabWorld();
    await checkout(clean, { url });
    await checkout(clean, { url });
    writeFileSync(join(clean.project, "mine"), "1");
    await expect(checkout(clean, { url })).rejects.toThrow("it has files that no commit has");
    expect(readFileSync(join(clean.project, "mine"), "utf8")).toBe("1");
  });

  test("leaves the tree alone without checkout, and what clean_flags spare", async () => {
    const { repository, first } = await served();
    const world = gitlabWorld();
    await checkout(world, { url: repository.url, checkout: false });
    expect([filesOf(world.project), world.said().split("\n").at(-1)]).toEqual([{}, "Skipping Git checkout"]);
    await checkout(world, { url: repository.url });
    mkdirSync(join(world.project, "cache"));
    writeFileSync(join(world.project, "cache/x"), "1");
    writeFileSync(join(world.project, "y"), "1");
    const inputs = { url: repository.url, sha: first, disposable: true };
    await checkout(world, { ...inputs, clean_flags: "none" });
    expect(Object.keys(filesOf(world.project))).toEqual(expect.arrayContaining(["cache/x", "y"]));
    await checkout(world, { ...inputs, clean_flags: "-ffdx -e cache/" });
    expect(Object.keys(filesOf(world.project)).toSorted()).toEqual([".gitignore", "a", "cache/x"]);
  });

  test("brings submodules, all or some of them", async () => {
    const inner = await createGitRepository(join(tempDir(), "inner"), { x: "inner" });
    const outer = await createGitRepository(join(tempDir(), "outer"), { y: "outer" });
    await outer.git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.dir, "deep"]);
    await outer.commit({});
    const { repository } = await served();
    await repository.git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", outer.dir, "one"]);
    await repository.git(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.dir, "two"]);
    await repository.commit({});
    const bring = async (submodules: Value): Promise<string[]> => {
      const world = gitlabWorld();
      await checkout(world, { url: repository.url, submodules });
      return Object.keys(filesOf(world.project)).filter(
        (name) => /^(?:one|two)\//.test(name) && !name.endsWith(".gitmodules"),
      );
    };
    expect(await bring({})).toEqual([]);
    expect(await bring({ strategy: "normal" })).toEqual(["one/y", "two/x"]);
    expect(await bring({ strategy: "recursive" })).toEqual(["one/deep/x", "one/y", "two/x"]);
    expect(await bring({ strategy: "normal", paths: ["two"] })).toEqual(["two/x"]);
    await expect(bring({ strategy: "all" })).rejects.toThrow("none of none, normal, recursive");
  });

  test("uses the credentials of the address and keeps none of them", async () => {
    const { repository, second } = await served();
    await using server = await startGitHttpServer(join(repository.dir, ".."), {
      auth: { username: "u", password: "s3cret" },
    });
    const url = `${server.url.replace("//", "//u:s3cret@")}/project`;
    const world = gitlabWorld();
    expect((await checkout(world, { url })).outputs["sha"]).toBe(second);
    expect(readFileSync(join(world.project, ".git/config"), "utf8")).not.toContain("s3cret");
    expect(world.said()).not.toContain("s3cret");
    const wrong = checkout(gitlabWorld(), { url: url.replace("s3cret", "other"), attempts: 2 });
    await expect(wrong).rejects.toMatchObject({ code: "AUTH_FAILED" });
  });

  test.each([
    [{ strategy: "pull" }, "none of fetch, clone, none, empty"],
    [{ url: "" }, "there is no url"],
    [{ url: "https://x/y", sha: "abc" }, "is no full commit"],
    [{ url: "https://x/y", refspecs: ["--upload-pack=x"] }, "is none"],
    [{ url: "https://x/y", depth: -1 }, "must be a whole number"],
    [{ url: "https://x/y", ref: "--x" }, "is no branch or tag"],
  ])("refuses %j", async (wrong, problem) => {
    const world = gitlabWorld();
    const env = { PATH: process.env["PATH"] };
    const inputs = { strategy: "fetch", attempts: 1, depth: 0, ...wrong };
    await expect(getSources(inputs, { env, workDir: world.project, log() {} })).rejects.toThrow(problem);
  });
});
