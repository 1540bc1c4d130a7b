import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CONTENT_FILE } from "@steps/model/kinds";
import { createGitRepository, startFileServer, startGitHttpServer, tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { BACKENDS, codeOf, openCache } from "./fixtures.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

test("resolve() keeps one file, asks whether it changed, and needs no network for what is here", async () => {
  const server = await startFileServer({ "/ci.yml": "a: 1\n" });
  const root = join(tempDir(), "cache");
  const url = `${server.url}/ci.yml`;
  await using cache = openCache({ root });
  const { resource, dir } = await cache.resolve({ kind: "file", url });
  expect(readFileSync(join(dir, CONTENT_FILE), "utf8")).toBe("a: 1\n");
  expect(resource).toMatchObject({ kind: "file", uri: url, digest: { sha256: sha256("a: 1\n") }, isMutable: true });
  const again = await openCache({ root }).resolve({ kind: "file", url });
  expect([again.dir, again.fetch.isHit]).toEqual([dir, true]);
  server.set("/ci.yml", "a: 2\n");
  const changed = await openCache({ root }).resolve({ kind: "file", url });
  expect(changed.resource.digest["sha256"]).toBe(sha256("a: 2\n"));
  await server.close();
  const offline = await openCache({ root, isOffline: true }).resolve({ kind: "file", url });
  expect(offline.dir).toBe(changed.dir);
  const exact = await openCache({ root }).resolve({ kind: "file", url, sha256: sha256("a: 1\n") });
  expect(exact.dir).toBe(dir);
  expect(await codeOf(openCache({ root, isOffline: true }).resolve({ kind: "file", url: `${url}x` }))).toBe("OFFLINE");
});

test("resolve() refuses a file that is too large, and one with another digest", async () => {
  await using server = await startFileServer({ "/large.yml": "x".repeat(5 * 1024 * 1024), "/a.yml": "a" });
  const url = (name: string): string => `${server.url}/${name}`;
  expect(await codeOf(openCache().resolve({ kind: "file", url: url("large.yml") }))).toBe("ARCHIVE_TOO_LARGE");
  expect(await codeOf(openCache().resolve({ kind: "file", url: url("a.yml"), sha256: sha256("b") }))).toBe(
    "DIGEST_MISMATCH",
  );
  expect(await codeOf(openCache().resolve({ kind: "file", url: url("none.yml") }))).toBe("REFERENCE_NOT_FOUND");
});

test("resolve() fetches a damaged file again", async () => {
  await using server = await startFileServer({ "/a.yml": "good" });
  const root = join(tempDir(), "cache");
  const request = { kind: "file", url: `${server.url}/a.yml` } as const;
  const { dir } = await openCache({ root }).resolve(request);
  const { chmodSync } = await import("node:fs");
  chmodSync(dir, 0o755);
  chmodSync(join(dir, CONTENT_FILE), 0o644);
  writeFileSync(join(dir, CONTENT_FILE), "evil");
  const again = await openCache({ root }).resolve(request);
  expect(readFileSync(join(again.dir, CONTENT_FILE), "utf8")).toBe("good");
});

describe.each(BACKENDS)("with the %s client", (git) => {
  test("tags() lists the tags of a repository, and offline the versions that are known", async () => {
    const root = tempDir();
    const repository = await createGitRepository(join(root, "a"), { "x.yml": "x" });
    await repository.tag("1.0.0");
    await repository.tag("v2", { isAnnotated: true });
    const cacheRoot = join(tempDir(), "cache");
    const cache = openCache({ root: cacheRoot, git });
    expect([...(await cache.tags(repository.url))].toSorted()).toEqual(["1.0.0", "v2"]);
    await using server = await startGitHttpServer(root);
    const url = `${server.url}/a`;
    expect([...(await cache.tags(url))].toSorted()).toEqual(["1.0.0", "v2"]);
    await cache.resolve({ kind: "git", url, version: "1.0.0" });
    const offline = openCache({ root: cacheRoot, git, isOffline: true });
    expect(await offline.tags(url)).toContain("1.0.0");
    expect(await offline.tags(`${url}-none`)).toEqual([]);
  });
});
