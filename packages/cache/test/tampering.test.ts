import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildZip, createGitRepository, snapshot, startGitHttpServer, tempDir } from "@steps/testkit";
import type { ComponentRequest } from "../src/index.ts";
import { BACKENDS, openCache } from "./fixtures.ts";
import { buildImage, gzip, hasRegistry, push, startRegistry } from "@steps/testkit/image-registry";

/** Two components in one cache: the one that is asked for, and one that an attacker would rather see run. */
interface World {
  readonly root: string;
  readonly good: ComponentRequest;
  readonly goodTree: string;
  readonly evilTree: string;
}

const GOOD = { "step.yml": "good\n", "bin/run": "#!/bin/sh\n" };
const EVIL = { "step.yml": "evil\n", "bin/run": "#!/bin/sh\nevil\n" };

type Requests = Partial<AsyncDisposable> & { readonly good: ComponentRequest; readonly evil: ComponentRequest };

async function gitRequests(): Promise<Requests> {
  const repository = await createGitRepository(join(tempDir(), "project"), GOOD);
  const good = { kind: "git", url: repository.url, version: await repository.revision() } as const;
  return { good, evil: { ...good, version: await repository.commit(EVIL) } };
}

async function zipRequests(): Promise<Requests> {
  const make = (files: Record<string, string>): ComponentRequest => {
    const url = join(tempDir(), "a.zip");
    writeFileSync(url, buildZip(Object.entries(files).map(([name, content]) => ({ name, content }))));
    return { kind: "zip", url };
  };
  return { good: make(GOOD), evil: make(EVIL) };
}

async function imageRequests(): Promise<Requests> {
  const registry = await startRegistry();
  const make = async (files: Record<string, string>): Promise<ComponentRequest> => {
    const layer = gzip(Object.entries(files).map(([path, content]) => ({ path, content })));
    const image = buildImage({ layers: [{ data: layer }], platform: { os: "generic", architecture: "generic" } });
    await push(`http://${registry.host}`, { repository: "test/step", tag: image.digest, images: [image] });
    return { kind: "oci", registry: registry.host, repository: "test/step", tag: image.digest };
  };
  const dispose = (): PromiseLike<void> => registry[Symbol.asyncDispose]();
  return { good: await make(GOOD), evil: await make(EVIL), [Symbol.asyncDispose]: dispose };
}

async function openWorld(requests: Requests): Promise<World> {
  const root = join(tempDir(), "cache");
  await using cache = openCache({ root });
  const good = await cache.resolve(requests.good);
  const evil = await cache.resolve(requests.evil);
  return {
    root,
    good: requests.good,
    goodTree: good.dir,
    evilTree: evil.dir,
  };
}

/** The entry of a commit or digest that leads to a tree. */
function entryOf(root: string, tree: string): string {
  const files = readdirSync(join(root, "index"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(root, "index", name));
  const found = files.find((path) => readFileSync(path, "utf8").includes(tree.slice(-64)));
  if (found === undefined) throw new Error("There is no such entry");
  return found;
}

function rewrite(path: string, change: (entry: Record<string, unknown>) => Record<string, unknown>): void {
  const entry = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  writeFileSync(path, JSON.stringify({ ...entry, ...change(entry) }));
}

function parse(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
}

function unlock(dir: string): string {
  chmodSync(dir, 0o755);
  return dir;
}

/** The changes that a step can make when it runs as the owner of the cache, one kind of file at a time. */
const TAMPERINGS: Readonly<Record<string, (world: World) => void>> = {
  "an entry that leads to another tree": ({ root, goodTree, evilTree }) =>
    rewrite(entryOf(root, goodTree), () => ({ gitTree: evilTree.slice(-64) })),
  "an entry with everything of another": ({ root, goodTree, evilTree }) => {
    const { gitTree, resolved, proof } = parse(entryOf(root, evilTree));
    rewrite(entryOf(root, goodTree), () => ({ gitTree, resolved, proof }));
  },
  "an entry that keeps its name and has the tree and the proof of another": ({ root, goodTree, evilTree }) => {
    const { gitTree, proof } = parse(entryOf(root, evilTree));
    rewrite(entryOf(root, goodTree), () => ({ gitTree, proof }));
  },
  "an entry with the digest of a tree that somebody made": ({ root, goodTree }) => {
    const made = join(root, "trees", "1".repeat(64));
    mkdirSync(made);
    writeFileSync(join(made, "step.yml"), "evil\n");
    rewrite(entryOf(root, goodTree), () => ({ gitTree: "1".repeat(64) }));
  },
  "trees that changed places": ({ goodTree, evilTree }) => {
    unlock(goodTree);
    unlock(evilTree);
    renameSync(goodTree, `${goodTree}.aside`);
    renameSync(evilTree, goodTree);
    renameSync(`${goodTree}.aside`, evilTree);
  },
  "the content of a file": ({ goodTree }) => {
    chmodSync(join(goodTree, "step.yml"), 0o644);
    writeFileSync(join(goodTree, "step.yml"), "evil\n");
  },
  "a file more": ({ goodTree }) => writeFileSync(join(unlock(goodTree), "more"), ""),
  "a file fewer": ({ goodTree }) => rmSync(join(unlock(goodTree), "step.yml")),
  "a program that was none": ({ goodTree }) => chmodSync(join(goodTree, "step.yml"), 0o755),
  "a folder more": ({ goodTree }) => mkdirSync(join(unlock(goodTree), "more")),
  "a link instead of a folder": ({ goodTree, evilTree }) => {
    unlock(goodTree);
    unlock(join(goodTree, "bin"));
    rmSync(join(goodTree, "bin"), { recursive: true });
    symlinkSync(join(evilTree, "bin"), join(goodTree, "bin"));
  },
  "a link instead of the tree": ({ goodTree, evilTree }) => {
    unlock(goodTree);
    renameSync(goodTree, join(dirname(dirname(goodTree)), "trash", "away"));
    symlinkSync(evilTree, goodTree);
  },
};

const KINDS = [
  { kind: "git", make: gitRequests, isHere: true },
  { kind: "zip", make: zipRequests, isHere: true },
  { kind: "oci", make: imageRequests, isHere: hasRegistry },
] as const;

describe.each(KINDS)("a changed cache of a component of kind $kind", ({ make, isHere, kind }) => {
  let requests: Requests;
  beforeAll(async () => {
    if (isHere) requests = await make();
  });
  afterAll(async () => await requests?.[Symbol.asyncDispose]?.());

  test.skipIf(!isHere).each(Object.keys(TAMPERINGS))("is noticed before anything runs: %s", async (name) => {
    // Both the process that remembers the tree and a new one must find the change.
    for (const verify of ["auto", "always"] as const) {
      const world = await openWorld(requests);
      const { root, good } = world;
      TAMPERINGS[name]?.(world);
      await using cache = openCache({ root, verify });
      const found = await cache.resolve(good);
      expect(snapshot(found.dir)).toMatchObject({ "step.yml": "good\n" });
      expect(Object.keys(snapshot(found.dir)).toSorted()).toEqual(["bin/run", "step.yml"]);
      expect(readdirSync(found.dir).toSorted()).toEqual(["bin", "step.yml"]);
      expect(found.note).toMatch(/had been changed/);
      const copy = await found.copyTo(join(tempDir(), "copy"));
      expect(snapshot(copy)).toEqual(snapshot(found.dir));
      expect((await cache.resolve(good)).note).toBeUndefined();
    }
  });

  test.skipIf(!isHere).each(Object.keys(TAMPERINGS))("is found by verify(), once: %s", async (name) => {
    const world = await openWorld(requests);
    await using before = openCache({ root: world.root });
    expect((await before.verify()).damaged).toEqual([]);
    TAMPERINGS[name]?.(world);
    await using cache = openCache({ root: world.root });
    expect((await cache.verify()).damaged.length).toBeGreaterThan(0);
    expect((await cache.verify()).damaged).toEqual([]);
    expect(snapshot((await cache.resolve(world.good)).dir)).toMatchObject({ "step.yml": "good\n" });
  });

  // A repository keeps no archives.
  const hasArchives = kind !== "git";
  (hasArchives ? test.skipIf(!isHere) : () => undefined)(
    "is noticed in its archives, and what is gone is fetched again",
    async () => {
      const world = await openWorld(requests);
      const blobs = readdirSync(join(world.root, "blobs"), { recursive: true, withFileTypes: true });
      for (const blob of blobs.filter((entry) => entry.isFile())) {
        chmodSync(join(blob.parentPath, blob.name), 0o644);
        appendFileSync(join(blob.parentPath, blob.name), "x");
      }
      await using cache = openCache({ root: world.root, verify: "always" });
      expect(snapshot((await cache.resolve(world.good)).dir)).toMatchObject({ "step.yml": "good\n" });
      expect((await cache.verify()).damaged.length).toBeGreaterThan(0);
    },
  );

  test.skipIf(!isHere)("does not hide behind a pin: a trace names the tree", async () => {
    const world = await openWorld(requests);
    await using first = openCache({ root: world.root });
    const { resource } = await first.resolve(world.good);
    rewrite(entryOf(world.root, world.goodTree), () => ({ gitTree: world.evilTree.slice(-64) }));
    await using replay = openCache({ root: world.root, verify: "always" });
    const found = await replay.resolve(world.good, { pin: resource });
    expect(snapshot(found.dir)).toMatchObject({ "step.yml": "good\n" });
    expect(found.note).toMatch(/had been changed/);
  });
});

test("resolve() does not take a tree that somebody left where its own belongs", async () => {
  const { good } = await gitRequests();
  await using elsewhere = openCache();
  const { resource } = await elsewhere.resolve(good);
  const root = join(tempDir(), "cache");
  const left = join(root, "trees", resource.digest["gitTree"] as string);
  mkdirSync(left, { recursive: true, mode: 0o700 });
  writeFileSync(join(left, "step.yml"), "evil\n");
  await using cache = openCache({ root });
  expect(snapshot((await cache.resolve(good)).dir)).toMatchObject({ "step.yml": "good\n" });
});

test("git is not started in a repository whose configuration was written by somebody else", async () => {
  const folder = tempDir();
  const repository = await createGitRepository(join(folder, "project"), GOOD);
  await using server = await startGitHttpServer(folder);
  const root = join(tempDir(), "cache");
  const request = { kind: "git", url: `${server.url}/project`, version: "main" } as const;
  await using cache = openCache({ root, git: "system" });
  await cache.resolve(request);
  const store = join(root, "git", readdirSync(join(root, "git"))[0] as string);
  const own = readFileSync(join(store, "config"), "utf8");
  const ran = join(tempDir(), "ran");
  const trap = join(tempDir(), "trap");
  writeFileSync(trap, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
  const changes: readonly (() => void)[] = [
    () =>
      appendFileSync(
        join(store, "config"),
        `[core]\n\talternateRefsCommand = ${trap}\n[uploadpack]\n\tpackObjectsHook = ${trap}\n[url "ext::${trap} "]\n\tinsteadOf = ${server.url}\n[protocol "ext"]\n\tallow = always\n`,
      ),
    () => {
      const other = join(tempDir(), "other");
      mkdirSync(other);
      writeFileSync(
        join(other, "config"),
        `${own}[url "ext::${trap} "]\n\tinsteadOf = ${server.url}\n[protocol "ext"]\n\tallow = always\n`,
      );
      writeFileSync(join(store, "commondir"), other);
    },
  ];
  for (const [index, change] of changes.entries()) {
    await repository.commit({ "step.yml": `before ${index}\n` });
    await using before = openCache({ root, git: "system" });
    await before.resolve(request);
    expect(readFileSync(join(store, "config"), "utf8")).toBe(own);
    change();
    const wanted = await repository.commit({ "step.yml": `${index}\n` });
    await using fresh = openCache({ root, git: "system" });
    const found = await fresh.resolve(request);
    expect([found.resource.resolvedVersion, existsSync(ran)]).toEqual([wanted, false]);
    expect(readFileSync(join(store, "config"), "utf8")).toBe(own);
    change();
    expect((await fresh.verify()).damaged).toMatchObject([{ path: store }]);
  }
});

test.each(BACKENDS)("resolve() by %s leaves an empty folder for a submodule, and its ids stay true", async (git) => {
  const folder = tempDir();
  const repository = await createGitRepository(join(folder, "project"), { "action.yml": "x" });
  const tree = await repository.tree([
    { mode: "100644", name: "action.yml", id: await repository.blob("x") },
    { mode: "40000", name: "deep", id: await repository.tree([{ mode: "160000", name: "inner", id: "1".repeat(40) }]) },
    { mode: "160000", name: "sub", id: await repository.revision() },
  ]);
  await repository.commitTree("with-submodule", tree);
  await using server = await startGitHttpServer(folder);
  const root = join(tempDir(), "cache");
  const request = { kind: "git", url: `${server.url}/project`, version: "with-submodule" } as const;
  await using cache = openCache({ root, git });
  const found = await cache.resolve(request);
  expect(found.resource.nativeTreeId).toBe(tree);
  await using again = openCache({ root, git, verify: "always" });
  expect((await again.resolve(request)).fetch.isHit).toBe(true);
  expect((await again.verify()).damaged).toEqual([]);
  const copy = await (await again.resolve(request)).copyTo(join(tempDir(), "copy"));
  for (const dir of [found.dir, copy]) {
    expect(readdirSync(dir).toSorted()).toEqual(["action.yml", "deep", "sub"]);
    expect([readdirSync(join(dir, "sub")), readdirSync(join(dir, "deep"))]).toEqual([[], ["inner"]]);
  }
  // Files in the place of a submodule are not part of the commit.
  chmodSync(join(found.dir, "sub"), 0o755);
  writeFileSync(join(found.dir, "sub/step.yml"), "evil\n");
  expect(readdirSync(join((await again.resolve(request)).dir, "sub"))).toEqual([]);
});
