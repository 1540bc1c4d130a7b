import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { GitRepository } from "@steps/testkit";
import { buildZip, createGitRepository, hasProgram, snapshot, startGitHttpServer, tempDir } from "@steps/testkit";
import type { ResolvedComponent } from "../src/index.ts";
import { codeOf, openCache } from "./fixtures.ts";

const FILES = { "step.yml": "spec: {}\n", "bin/run": { content: "#!/bin/sh\n", mode: "100755" } } as const;
const EXPECTED = { "step.yml": "spec: {}\n", "bin/run": "x #!/bin/sh\n" };

async function project(): Promise<GitRepository> {
  return await createGitRepository(join(tempDir(), "project"), FILES);
}

/** The changes that a step can make to a tree when it runs as the owner of the cache. */
const TAMPERINGS: Readonly<Record<string, (dir: string) => void>> = {
  "another size": (dir) => appendFileSync(open(dir, "step.yml"), "x"),
  "the same size and time": (dir) => {
    const path = open(dir, "step.yml");
    const { atime, mtime } = statSync(path);
    writeFileSync(path, "spec: []\n");
    utimesSync(path, atime, mtime);
  },
  "a new file": (dir) => writeFileSync(join(open(dir, "."), "new"), ""),
  "a file gone": (dir) => rmSync(join(open(dir, "."), "step.yml")),
  "another mode": (dir) => chmodSync(join(dir, "step.yml"), 0o755),
  "a file replaced by a link": (dir) => {
    rmSync(join(open(dir, "."), "step.yml"));
    symlinkSync("/etc/passwd", join(dir, "step.yml"));
  },
  "a folder moved": (dir) => renameSync(join(open(dir, "."), "bin"), join(dir, "sbin")),
  "a whole new folder": (dir) => {
    rmSync(open(dir, "."), { recursive: true });
    mkdirSync(dir);
  },
};

function open(dir: string, path: string): string {
  chmodSync(dir, 0o755);
  chmodSync(join(dir, path), 0o755);
  if (path !== ".") chmodSync(join(dir, path), 0o644);
  return join(dir, path);
}

test.each(Object.keys(TAMPERINGS))("resolve() notices a changed tree: %s", async (name) => {
  const repository = await project();
  const root = join(tempDir(), "cache");
  const request = { kind: "git", url: repository.url, version: await repository.revision() } as const;
  for (const verify of ["auto", "always"] as const) {
    await using cache = openCache({ root, verify });
    const { dir } = await cache.resolve(request);
    TAMPERINGS[name]?.(dir);
    const again = await cache.resolve(request);
    expect(snapshot(again.dir)).toEqual(EXPECTED);
    expect(again.note).toContain("had been changed");
    expect((await cache.resolve(request)).note).toBeUndefined();
  }
});

test("resolve() of a changed tree without a network takes what git kept, or says OFFLINE", async () => {
  const repository = await project();
  await using server = await startGitHttpServer(dirname(repository.dir));
  const version = await repository.revision();
  const request = { kind: "git", url: `${server.url}/project`, version } as const;
  for (const git of ["system", "isomorphic"] as const) {
    const root = join(tempDir(), "cache");
    await using cache = openCache({ root, git });
    const { dir } = await cache.resolve(request);
    TAMPERINGS["another size"]?.(dir);
    await using offline = openCache({ root, git, isOffline: true });
    if (git === "system") expect(snapshot((await offline.resolve(request)).dir)).toEqual(EXPECTED);
    else expect(await codeOf(offline.resolve(request))).toBe("OFFLINE");
  }
});

test("resolve() repairs a store whose objects were damaged", async () => {
  const repository = await project();
  const root = join(tempDir(), "cache");
  const request = { kind: "git", url: repository.url, version: await repository.revision() } as const;
  await using cache = openCache({ root, git: "system" });
  const { dir } = await cache.resolve(request);
  const packs = join(root, "git", readdirSync(join(root, "git"))[0] as string, "objects/pack");
  for (const name of readdirSync(packs).filter((each) => each.endsWith(".pack"))) {
    chmodSync(join(packs, name), 0o644);
    const { size } = statSync(join(packs, name));
    writeFileSync(join(packs, name), Buffer.alloc(size, 7));
  }
  TAMPERINGS["another size"]?.(dir);
  await using fresh = openCache({ root, git: "system" });
  expect(snapshot((await fresh.resolve(request)).dir)).toEqual(EXPECTED);
});

test("resolve() of a changed tree of an archive takes the archive again", async () => {
  const path = join(tempDir(), "a.zip");
  writeFileSync(path, buildZip([{ name: "step.yml", content: "x" }]));
  await using cache = openCache();
  const { dir } = await cache.resolve({ kind: "zip", url: path });
  TAMPERINGS["another size"]?.(dir);
  const again = await cache.resolve({ kind: "zip", url: path });
  expect([snapshot(again.dir), again.note?.includes("had been changed")]).toEqual([{ "step.yml": "x" }, true]);
});

test("copyTo() gives each job files of its own", async () => {
  const repository = await project();
  await using cache = openCache();
  const request = { kind: "git", url: repository.url, version: "main" } as const;
  const component = await cache.resolve(request);
  const [one, two] = [join(tempDir(), "one"), join(tempDir(), "two")];
  expect(await component.copyTo(one)).toBe(one);
  writeFileSync(join(one, "step.yml"), "mine");
  writeFileSync(join(one, "bin/new"), "mine");
  expect(await component.copyTo(two)).toBe(two);
  expect([snapshot(two), snapshot((await cache.resolve(request)).dir)]).toEqual([EXPECTED, EXPECTED]);
  expect(await codeOf(component.copyTo(two))).toBe("CACHE_IO");
});

test("copyTo() never copies a tree that was changed since it was resolved", async () => {
  const repository = await project();
  await using cache = openCache();
  const component = await cache.resolve({ kind: "git", url: repository.url, version: "main" });
  TAMPERINGS["the same size and time"]?.(component.dir);
  expect(snapshot(await component.copyTo(join(tempDir(), "copy")))).toEqual(EXPECTED);
});

test("verify() finds what was changed and takes it out of use", async () => {
  const repository = await project();
  await using cache = openCache();
  const component = await cache.resolve({ kind: "git", url: repository.url, version: "main" });
  expect(await cache.verify()).toEqual({ trees: 1, archives: 0, damaged: [] });
  TAMPERINGS["a new file"]?.(component.dir);
  const { damaged } = await cache.verify();
  const expected = component.resource.digest["gitTree"];
  expect(damaged).toEqual([
    { path: component.dir, expected, actual: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
  ]);
  expect(await cache.verify()).toEqual({ trees: 0, archives: 0, damaged: [] });
});

test("createCache() refuses a folder that others may write to, or that is not ours", async () => {
  const repository = await project();
  const codeAt = async (root: string): Promise<unknown> => {
    await using cache = openCache({ root });
    return await codeOf(cache.resolve({ kind: "git", url: repository.url, version: "main" }));
  };
  const shared = join(tempDir(), "shared");
  mkdirSync(shared);
  chmodSync(shared, 0o777);
  expect(await codeAt(shared)).toBe("CACHE_UNSAFE");
  const inner = join(tempDir(), "inner");
  mkdirSync(join(inner, "trees"), { recursive: true });
  chmodSync(join(inner, "trees"), 0o770);
  expect(await codeAt(inner)).toBe("CACHE_UNSAFE");
  const file = join(tempDir(), "file");
  writeFileSync(file, "");
  expect(await codeAt(file)).toBe("CACHE_IO");
  const own = join(tempDir(), "a/b/own");
  expect(await codeAt(own)).toHaveProperty("value");
  expect(statSync(own).mode & 0o777).toBe(0o700);
});

test.skipIf(process.getuid?.() !== 0)("createCache() refuses a folder of another user", async () => {
  const root = tempDir();
  const { chownSync } = await import("node:fs");
  chownSync(root, 12345, 12345);
  await using cache = openCache({ root });
  expect(await codeOf(cache.resolve({ kind: "zip", url: "/none.zip" }))).toBe("CACHE_UNSAFE");
  chownSync(root, 0, 0);
});

test("collect() removes what was used least recently, and nothing that is held", async () => {
  const repository = await project();
  const root = join(tempDir(), "cache");
  const old = await repository.revision();
  const middle = await repository.commit({ "step.yml": "2\n" });
  const last = await repository.commit({ "step.yml": "3\n" });
  const git = (version: string) => ({ kind: "git", url: repository.url, version }) as const;
  const dirs: Record<string, string> = {};
  for (const version of [old, middle, last]) {
    await using cache = openCache({ root });
    const { dir, resource } = await cache.resolve(git(version));
    dirs[version] = resource.digest["gitTree"] as string;
    expect(dir).toContain(dirs[version]);
  }
  const age = (version: string, hours: number): void => {
    const at = new Date(Date.now() - hours * 3_600_000);
    utimesSync(join(root, "leases", dirs[version] as string), at, at);
  };
  age(old, 3);
  age(middle, 2);
  await using holder = openCache({ root });
  const held: ResolvedComponent = await holder.resolve(git(old));
  age(old, 3);
  await using cleaner = openCache({ root });
  const report = await cleaner.collect({ maxAgeMs: 3_600_000 });
  expect([report.removed, report.leased]).toEqual([1, 1]);
  expect(
    readdirSync(join(root, "trees"))
      .filter((name) => name.length === 64)
      .toSorted(),
  ).toEqual([dirs[old], dirs[last]].toSorted());
  expect(snapshot(held.dir)).toEqual(EXPECTED);
  expect((await cleaner.list()).map(({ version, isLeased }) => [version, isLeased])).toEqual([
    [last, false],
    [old, true],
  ]);
  await holder[Symbol.asyncDispose]();
  const rest = await cleaner.collect({ maxBytes: 0 });
  expect(rest.keptBytes).toBe(0);
  expect([readdirSync(join(root, "trees")), readdirSync(join(root, "git")), await cleaner.list()]).toEqual([
    [],
    [],
    [],
  ]);
  expect((await cleaner.resolve(git(middle))).fetch.isHit).toBe(false);
});

test("list() puts the names of a commit before the commit, whatever they are", async () => {
  const repository = await project();
  const commit = await repository.revision();
  await repository.tag("0");
  await repository.tag("z");
  await using cache = openCache();
  for (const version of ["z", commit, "0"]) await cache.resolve({ kind: "git", url: repository.url, version });
  expect((await cache.list()).map(({ version }) => version)).toEqual(["0", "z", commit]);
});

test.skipIf(!hasProgram("setpriv") || process.getuid?.() !== 0)(
  "resolve(), copyTo() and collect() work without any privilege",
  async () => {
    // Read-only folders stop their owner, but not the superuser who may run the other tests.
    const { execFileSync } = await import("node:child_process");
    const { chownSync } = await import("node:fs");
    const home = tempDir();
    chownSync(home, 12345, 12345);
    writeFileSync(join(home, "a.zip"), buildZip([{ name: "a/b", content: "x" }]), { mode: 0o644 });
    const script = `
    import { createCache } from ${JSON.stringify(join(import.meta.dirname, "../src/index.ts"))};
    import { chmodSync, writeFileSync } from "node:fs";
    const cache = createCache({ root: ${JSON.stringify(join(home, "cache"))} });
    const request = { kind: "zip", url: ${JSON.stringify(join(home, "a.zip"))} };
    const { dir } = await cache.resolve(request);
    chmodSync(dir + "/a/b", 0o644);
    writeFileSync(dir + "/a/b", "y");
    const again = await cache.resolve(request);
    const copy = await again.copyTo(${JSON.stringify(join(home, "copy"))});
    writeFileSync(copy + "/a/new", "");
    await cache[Symbol.asyncDispose]();
    const { removed, keptBytes } = await createCache({ root: ${JSON.stringify(join(home, "cache"))} }).collect({ maxBytes: 0 });
    console.log(JSON.stringify([again.note !== undefined, removed, keptBytes]));`;
    const output = execFileSync(
      "setpriv",
      [
        "--reuid=12345",
        "--regid=12345",
        "--clear-groups",
        process.execPath,
        "--conditions=steps-source",
        "--no-warnings",
        "--input-type=module",
        "-e",
        script,
      ],
      { cwd: home, env: { PATH: process.env["PATH"], HOME: home } },
    );
    expect(JSON.parse(output.toString())).toEqual([true, 2, 0]);
  },
);
