import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { compileCache, createGitRepository, snapshot, tempDir } from "@steps/testkit";
import type { Value } from "@steps/model";
import { describe, expect, onTestFinished, test } from "vitest";
import { cacheKey, cleanKey } from "../src/gitlab/cache/cache-key.ts";
import { restoreCaches } from "../src/gitlab/cache/cache-restore.ts";
import { saveCaches } from "../src/gitlab/cache/cache-save.ts";
import type { Outputs } from "../src/images/builtin-images.ts";
import { entryPath, openEntry } from "../src/gitlab/store/entry-store.ts";
import { type GitlabWorld, gitlabWorld, writeFiles } from "./gitlab-world.ts";

type Items = readonly Readonly<Record<string, Value>>[];

async function save({ run, store }: GitlabWorld, caches: Items): Promise<Outputs> {
  return (await run("cache-save", saveCaches, { cache_dir: store, caches: [...caches] })).outputs;
}

async function restore({ run, store }: GitlabWorld, caches: Items, fallback_key = ""): Promise<Outputs> {
  return (await run("cache-restore", restoreCaches, { cache_dir: store, caches: [...caches], fallback_key })).outputs;
}

const placeOf = (workDir: string): Parameters<typeof cacheKey>[1] => ({ env: process.env, workDir, log() {} });

describe("gitlab/cache-save and -restore", () => {
  test("bring files back with their links, permissions and times", async () => {
    const first = gitlabWorld({ "node_modules/.bin/x": "-> ../x/run", "node_modules/x/run": "1", other: "2" });
    const run = join(first.project, "node_modules/x/run");
    chmodSync(run, 0o750);
    utimesSync(run, 1000, 1000);
    const caches = [{ key: "npm", paths: ["node_modules/"] }];
    const saved = await save(first, caches);
    expect(saved).toMatchObject({ caches: [{ key: "npm", saved: true, files: 5 }] });
    const second = gitlabWorld({}, first.store);
    expect(await restore(second, caches)).toMatchObject({
      caches: [{ key: "npm", matched_key: "npm", files: 5 }],
      hit: true,
    });
    expect(snapshot(second.project)).toEqual({ "node_modules/.bin/x": "-> ../x/run", "node_modules/x/run": "x 1" });
    const { mode, mtimeMs } = statSync(join(second.project, "node_modules/x/run"));
    expect([mode & 0o777, mtimeMs]).toEqual([0o750, 1_000_000]);
  });

  test("do not write a cache again that has the same files", async () => {
    const world = gitlabWorld({ "dir/a": "1" });
    const caches = [{ key: "k", paths: ["dir"] }];
    await save(world, caches);
    const dir = openEntry(entryPath(world.store, "k"))?.dir;
    utimesSync(join(world.project, "dir/a"), 1000, 1000);
    expect(await save(world, caches)).toMatchObject({ caches: [{ saved: false, files: 2 }] });
    expect(world.said()).toContain('The cache "k" is up to date');
    expect(openEntry(entryPath(world.store, "k"))?.dir).toBe(dir);
    writeFileSync(join(world.project, "dir/a"), "2");
    expect(await save(world, caches)).toMatchObject({ caches: [{ saved: true }] });
    rmSync(join(world.project, "dir/a"));
    expect(await save(world, caches)).toMatchObject({ caches: [{ saved: true, files: 1 }] });
  });

  test("a save without files leaves the cache as it is", async () => {
    const world = gitlabWorld({ "dir/a": "1" });
    await save(world, [{ key: "k", paths: ["dir"] }]);
    rmSync(join(world.project, "dir"), { recursive: true });
    expect(await save(world, [{ key: "k", paths: ["dir"] }])).toMatchObject({ caches: [{ saved: false, files: 0 }] });
    await restore(world, [{ key: "k", paths: ["dir"] }]);
    expect(snapshot(world.project)).toEqual({ "dir/a": "1" });
  });

  test("try the fallback keys in order, then the last one, which may not be a protected one", async () => {
    const world = gitlabWorld({ "dir/a": "1" });
    await save(world, [{ key: "main", paths: ["dir"] }]);
    rmSync(join(world.project, "dir"), { recursive: true });
    const item = { key: "feature", fallback_keys: ["none", "main"], paths: ["dir"] };
    expect(await restore(world, [item])).toMatchObject({
      caches: [{ key: "feature", matched_key: "main" }],
      hit: false,
    });
    const { fallback_keys: _, ...alone } = item;
    expect(await restore(world, [alone], "main")).toMatchObject({ caches: [{ matched_key: "main" }] });
    expect(await restore(world, [alone], "main-protected")).toMatchObject({ caches: [{ matched_key: "" }] });
    expect(world.said()).toMatch(
      /Checking cache for none\.\.\.[^]*"main-protected" is not allowed[^]*No cache is kept/,
    );
  });

  test("policies say which way a cache goes; one without files is none", async () => {
    const world = gitlabWorld({ a: "1" });
    expect(await save(world, [{ key: "k", paths: ["a"], policy: "pull" }, { key: "x" }])).toEqual({ caches: [] });
    await save(world, [{ key: "k", paths: ["a"], policy: "push" }]);
    expect(await restore(world, [{ key: "k", paths: ["a"], policy: "push" }])).toEqual({ caches: [], hit: false });
    await expect(save(world, [{ key: "k", paths: ["a"], policy: "both" }])).rejects.toThrow('policy "both" is none of');
  });

  test("what is broken is a warning, and the next save mends it", async () => {
    const world = gitlabWorld({ a: "1" });
    const caches = [{ key: "k", paths: ["a"] }];
    await save(world, caches);
    writeFileSync(join(openEntry(entryPath(world.store, "k"))?.dir ?? "", "cache.zip"), "PK");
    expect(await restore(world, caches)).toMatchObject({ caches: [{ matched_key: "", files: 0 }], hit: false });
    expect(world.said()).toContain('WARNING: The cache "k" is not restored: Cannot use');
    expect(await save(world, caches)).toMatchObject({ caches: [{ saved: true }] });
    expect(await restore(world, caches)).toMatchObject({ hit: true });
    await restore(world, [{ key: "..", paths: ["a"] }]);
    expect(world.said()).toContain('WARNING: The cache is not restored: Cannot run built-in step: the key ".."');
  });

  test("links out of the project are left out, but those to programs of the system", async () => {
    const world = gitlabWorld();
    writeFiles(world.project, { "venv/lib/x": "1" });
    symlinkSync("/usr/bin/env", join(world.project, "venv/python"));
    symlinkSync("/home/me/.pyenv/python", join(world.project, "venv/other"));
    await save(world, [{ key: "venv", paths: ["venv"] }]);
    expect(world.said()).toContain('WARNING: "venv/other" is a link that');
    const second = gitlabWorld({}, world.store);
    await restore(second, [{ key: "venv", paths: ["venv"] }]);
    expect(snapshot(second.project)).toEqual({ "venv/lib/x": "1", "venv/python": "-> /usr/bin/env" });
  });

  test("bring untracked files where that is asked for", async () => {
    const world = gitlabWorld();
    await createGitRepository(world.project, { tracked: "1" });
    writeFiles(world.project, { "build/x": "2" });
    await save(world, [{ key: "k", untracked: true }]);
    const second = gitlabWorld({}, world.store);
    await restore(second, [{ key: "k", untracked: true }]);
    expect(snapshot(second.project)).toEqual({ "build/x": "2" });
  });
});

describe("cacheKey()", () => {
  const blob = (text: string): string => createHash("sha1").update(`blob ${text.length}\0${text}`).digest("hex");

  test("is made of what git calls the content of files, in any order", async () => {
    const { project } = gitlabWorld({ a: "1", "sub/b": "2" });
    const digest = createHash("sha1")
      .update([blob("1"), blob("2")].toSorted().join("-"))
      .digest("hex");
    const place = placeOf(project);
    expect(await cacheKey({ files: ["a", "sub/*"], prefix: "p" }, place)).toBe(`p-${digest}`);
    expect(await cacheKey({ files: ["sub/b", "a", "none"], prefix: "p" }, place)).toBe(`p-${digest}`);
    expect(await cacheKey({ files: ["a", "sub/b"] }, place)).toBe(`a_b-${digest}`);
    expect(await cacheKey({ files: ["none"], prefix: "p" }, place)).toBe("p-default");
    expect(await cacheKey("", place)).toBe("default");
  });

  test("is made of the last commits of files", async () => {
    const { project } = gitlabWorld();
    const repository = await createGitRepository(project, { a: "1", b: "2" });
    const first = await repository.commit({ a: "3" });
    await repository.commit({ b: "4" });
    const digest = createHash("sha1").update(first).digest("hex");
    expect(await cacheKey({ files_commits: ["a", "none"], prefix: "p" }, placeOf(project))).toBe(`p-${digest}`);
  });

  test.each([
    ["a/b", "a/b"],
    ["a%2Fb", "a/b"],
    ["..\\..\\a", "a"],
    ["/a/./b/../c/ ", "a/c"],
    ["a%2e%2e", "a.."],
  ])("cleanKey(%j) is %j, as in GitLab's runner", (key, clean) => {
    expect(cleanKey(key)).toBe(clean);
  });

  test.each(["", "/", "..", "%2e%2e/", " "])("cleanKey(%j) names nothing", (key) => {
    expect(() => cleanKey(key)).toThrow("names no cache");
  });
});

describe("a store of caches", () => {
  async function startWorker(store: string, text: string): Promise<ChildProcess> {
    const args = ["--conditions=steps-source", join(import.meta.dirname, "cache-worker.ts"), store, text, tempDir()];
    const env = { ...process.env, ...compileCache() };
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout as NonNullable<typeof child.stdout>, "data");
    return child;
  }

  async function restored(store: string): Promise<string | undefined> {
    const world = gitlabWorld({}, store);
    const { hit } = await restore(world, [{ key: "k", paths: ["dir"] }]);
    expect(world.said()).not.toContain("WARNING");
    const texts = new Set(Object.values(snapshot(world.project)));
    if (hit !== true) return undefined;
    expect(texts.size).toBe(1);
    return [...texts][0]?.split(" ")[0];
  }

  test("has the old cache or the new one when whoever saves it is killed at any time", async () => {
    const store = join(tempDir(), "store");
    let before: string | undefined;
    for (let round = 0; round < 10; round += 1) {
      const child = await startWorker(store, `r${round}`);
      const hasSaved = round % 2 === 0;
      if (hasSaved) await once(child.stdout as NonNullable<typeof child.stdout>, "data");
      await delay(5 * round);
      child.kill("SIGKILL");
      await once(child, "exit");
      const after = await restored(store);
      expect(hasSaved ? [`r${round}`] : [before, `r${round}`]).toContain(after);
      before = after;
    }
    const world = gitlabWorld({ "dir/a": "last" }, store);
    await save(world, [{ key: "k", paths: ["dir"] }]);
    expect(readdirSync(join(store, ".generations"))).toHaveLength(1);
  });

  test("is shared by jobs that save and restore at once", async () => {
    const store = join(tempDir(), "store");
    const workers = [await startWorker(store, "one"), await startWorker(store, "two")];
    const seen = new Set<string>();
    for (let round = 0; seen.size < 2 || round < 10; round += 1) seen.add((await restored(store)) ?? "none");
    for (const worker of workers) worker.kill("SIGKILL");
  });
});
