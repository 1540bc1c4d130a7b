import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createGitRepository, type GitRepository, snapshot, startGitHttpServer, tempDir } from "@steps/testkit";
import { createTreePlan } from "@steps/transfer/archive";
import { DEFAULT_LIMITS } from "../src/index.ts";
import { BACKENDS, codeOf, leftovers, openCache } from "./fixtures.ts";

type Line = { mode: string; name: string; id: string };

interface Hostile {
  readonly name: string;
  readonly make: (repository: GitRepository, blob: string) => Promise<Line[]>;
}

const file = (name: string): Hostile => ({
  name: `a file ${JSON.stringify(name)}`,
  make: async (_repository, id) => [{ mode: "100644", name, id }],
});

const link = (target: string): Hostile => ({
  name: `a link to ${JSON.stringify(target)}`,
  make: async (repository) => [{ mode: "120000", name: "link", id: await repository.blob(target) }],
});

const HOSTILE: readonly Hostile[] = [
  ...["..", ".", ".git", ".GIT", ".git ", ".git.", "git~1", ".g\u200cit", "a/b", "../x", "/etc/x", "a\\..\\b"].map(
    file,
  ),
  ...["nul", "COM1.txt", "C:", "a.", "a\nb", "x".repeat(300)].map(file),
  ...["../outside", "/etc/passwd", "a/../../x", "", "C:\\x"].map(link),
  {
    name: "a folder .git with a hook",
    async make(repository, id) {
      const hooks = await repository.tree([{ mode: "100755", name: "post-checkout", id }]);
      const git = await repository.tree([{ mode: "40000", name: "hooks", id: hooks }]);
      return [{ mode: "40000", name: ".git", id: git }];
    },
  },
  {
    name: "names that differ in case only",
    make: async (_repository, id) => [
      { mode: "100644", name: "README", id },
      { mode: "100644", name: "readme", id },
    ],
  },
  {
    name: "names that differ in composition only",
    make: async (_repository, id) => [
      { mode: "100644", name: "e\u0301", id },
      { mode: "100644", name: "\u00e9", id },
    ],
  },
  {
    name: "a link and a folder of the same name",
    async make(repository, id) {
      const target = await repository.blob("/tmp");
      const folder = await repository.tree([{ mode: "100644", name: "x", id }]);
      return [
        { mode: "120000", name: "A", id: target },
        { mode: "40000", name: "a", id: folder },
      ];
    },
  },
  {
    name: "links that lead out only together",
    make: async (repository) => [
      { mode: "120000", name: "a", id: await repository.blob(".") },
      { mode: "120000", name: "b", id: await repository.blob("a/../x") },
    ],
  },
  {
    name: "links in a circle",
    make: async (repository) => [
      { mode: "120000", name: "a", id: await repository.blob("b") },
      { mode: "120000", name: "b", id: await repository.blob("a") },
    ],
  },
  { name: "a mode of its own", make: async (_repository, id) => [{ mode: "104755", name: "setuid", id }] },
];

test.each(BACKENDS)("resolve() by %s refuses every hostile tree and leaves nothing of it", async (git) => {
  const dir = tempDir();
  const repository = await createGitRepository(join(dir, "project"), { "step.yml": "x" });
  const blob = await repository.blob("harmless");
  await using server = await startGitHttpServer(dir);
  const root = join(tempDir(), "cache");
  await using cache = openCache({ git, root });
  const results: [string, unknown][] = [];
  for (const [index, { name, make }] of HOSTILE.entries()) {
    const tree = await repository.tree(await make(repository, blob));
    await repository.commitTree(`hostile-${index}`, tree);
    const request = { kind: "git", url: `${server.url}/project`, version: `hostile-${index}` } as const;
    results.push([name, await codeOf(cache.resolve(request))]);
  }
  expect(results).toEqual(HOSTILE.map(({ name }) => [name, "UNSAFE_ENTRY"]));
  expect(readdirSync(join(root, "trees"))).toEqual([]);
  expect(leftovers(root)).toEqual([]);
});

test("resolve() refuses hostile trees by itself, without git's own check", () => {
  for (const name of [
    "..",
    ".git",
    ".GIT",
    "git~1",
    "GIT~2",
    ".git::$INDEX_ALLOCATION",
    ".g\u200cit",
    "a\\b",
    "aux.c",
  ]) {
    expect(() => createTreePlan(DEFAULT_LIMITS).add({ path: `dir/${name}`, type: "file" })).toThrow(/Cannot unpack/);
  }
  const bytes = Buffer.from([0x61, 0xff, 0x62]);
  expect(() => createTreePlan(DEFAULT_LIMITS).add({ path: bytes, type: "file" })).toThrow("is not UTF-8");
});

test.each(BACKENDS)("resolve() by %s unpacks links inside the tree, odd old modes and empty folders", async (git) => {
  const repository = await createGitRepository(join(tempDir(), "project"), { "step.yml": "x" });
  const blob = await repository.blob("text");
  const empty = await repository.tree([]);
  const folder = await repository.tree([
    { mode: "100664", name: "old", id: blob },
    { mode: "120000", name: "up", id: await repository.blob("../top") },
  ]);
  const tree = await repository.tree([
    { mode: "40000", name: "empty", id: empty },
    { mode: "40000", name: "folder", id: folder },
    { mode: "120000", name: "nowhere", id: await repository.blob("folder/missing/../x") },
    { mode: "100644", name: "top", id: blob },
  ]);
  await repository.commitTree("odd", tree);
  await using cache = openCache({ git });
  const { dir } = await cache.resolve({ kind: "git", url: repository.url, version: "odd" });
  expect(snapshot(dir)).toEqual({
    "folder/old": "text",
    "folder/up": "-> ../top",
    nowhere: "-> folder/missing/../x",
    top: "text",
  });
  expect(existsSync(join(dir, "empty"))).toBe(true);
});

test.each(BACKENDS)("resolve() by %s stops at a tree that unfolds without end", async (git) => {
  const repository = await createGitRepository(join(tempDir(), "project"), { "step.yml": "x" });
  let id = await repository.blob("boom");
  for (let level = 0; level < 10; level += 1) {
    const mode = level === 0 ? "100644" : "40000";
    const entries = Array.from({ length: 10 }, (_, index) => ({ mode, name: `n${index}`, id }));
    id = await repository.tree(entries);
  }
  await repository.commitTree("bomb", id);
  await using cache = openCache({ git });
  expect(await codeOf(cache.resolve({ kind: "git", url: repository.url, version: "bomb" }))).toBe("ARCHIVE_TOO_LARGE");
});

test("resolve() notices an object that is not what its id says", async () => {
  const repository = await createGitRepository(join(tempDir(), "project"), { "step.yml": "x" });
  const [right, wrong] = [await repository.git(["rev-parse", "HEAD:step.yml"]), await repository.blob("y")];
  const at = (id: string): string => join(repository.dir, ".git/objects", id.slice(0, 2), id.slice(2));
  const content = readFileSync(at(wrong));
  await repository.git(["cat-file", "-e", right]);
  const { chmodSync } = await import("node:fs");
  chmodSync(at(right), 0o644);
  writeFileSync(at(right), content);
  for (const git of BACKENDS) {
    await using cache = openCache({ git });
    const code = await codeOf(cache.resolve({ kind: "git", url: repository.url, version: "main" }));
    expect(["DIGEST_MISMATCH", "TRANSPORT"]).toContain(code);
  }
});
