import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createGitRepository, hasProgram, tempDir } from "@steps/testkit";
import { codeOf, openCache } from "./fixtures.ts";

test("resolve() gives a folder where it is, with git's digest of it without .git", async () => {
  const repository = await createGitRepository(
    join(tempDir(), "project"),
    { "a/b": "x", c: "y" },
    { objectFormat: "sha256" },
  );
  symlinkSync("/etc", join(repository.dir, "link"));
  await repository.commit({});
  const root = join(tempDir(), "cache");
  await using cache = openCache({ root });
  const { resource, dir, fetch, copyTo } = await cache.resolve({ kind: "local", dir: repository.dir });
  expect([dir, fetch.isHit, resource]).toEqual([
    repository.dir,
    true,
    {
      kind: "local",
      uri: repository.dir,
      requestedVersion: "",
      resolvedVersion: "",
      digest: { gitTree: await repository.git(["rev-parse", "HEAD^{tree}"]) },
      isMutable: true,
    },
  ]);
  expect(await copyTo(join(tempDir(), "copy"))).toBe(dir);
  expect(existsSync(root)).toBe(false);
});

test("resolve() sees a folder change, and checks it against a pin", async () => {
  const dir = tempDir();
  writeFileSync(join(dir, "step.yml"), "one");
  await using cache = openCache();
  const { resource } = await cache.resolve({ kind: "local", dir });
  expect((await cache.resolve({ kind: "local", dir }, { pin: resource })).resource).toEqual(resource);
  writeFileSync(join(dir, "step.yml"), "two");
  expect(await codeOf(cache.resolve({ kind: "local", dir }, { pin: resource }))).toBe("PIN_MISMATCH");
  chmodSync(join(dir, "step.yml"), 0o755);
  expect((await cache.resolve({ kind: "local", dir })).resource.digest).not.toEqual(resource.digest);
});

test("resolve() gives no digest to a folder that is too large or holds what has none, and says so", async () => {
  const dir = tempDir();
  for (const name of ["a", "b", "c"]) writeFileSync(join(dir, name), "xx");
  for (const limits of [{ maxEntries: 2 }, { maxTotalBytes: 5 }]) {
    await using cache = openCache({ limits });
    const { resource, note } = await cache.resolve({ kind: "local", dir });
    expect([resource.digest, note]).toEqual([{}, expect.stringMatching(/^The folder has no digest: it /) as string]);
  }
  await using cache = openCache();
  expect(await codeOf(cache.resolve({ kind: "local", dir: join(dir, "none") }))).toBe("REFERENCE_NOT_FOUND");
  expect(await codeOf(cache.resolve({ kind: "local", dir: join(dir, "a") }))).toBe("REFERENCE_NOT_FOUND");
  expect(await codeOf(cache.resolve({ kind: "local", dir: "relative" }))).toBe("REFERENCE_INVALID");
});

test.skipIf(!hasProgram("mkfifo"))("resolve() does not wait for a pipe in a folder", async () => {
  const dir = tempDir();
  execFileSync("mkfifo", [join(dir, "pipe")]);
  await using cache = openCache();
  expect((await cache.resolve({ kind: "local", dir })).resource.digest).toEqual({});
});
