import { createHash } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ZipEntryInput } from "@steps/testkit";
import { buildZip, createGitRepository, snapshot, startFileServer, tempDir } from "@steps/testkit";
import { codeOf, leftovers, openCache } from "./fixtures.ts";

const ENTRIES: readonly ZipEntryInput[] = [
  { name: "top/" },
  { name: "top/step.yml", content: "spec: {}\n" },
  { name: "top/run", content: "#!/bin/sh\n", mode: 0o104755 | 0o100000 },
  { name: "top/link", content: "step.yml", mode: 0o120777 },
  { name: "top/empty/" },
];

function sha256(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function archive(entries: readonly ZipEntryInput[] = ENTRIES): { path: string; digest: string; data: Buffer } {
  const path = join(tempDir(), "a.zip");
  const data = buildZip(entries);
  writeFileSync(path, data);
  return { path, digest: sha256(data), data };
}

test("resolve() unpacks an archive on the disk, with its one top folder, and gives git's digest of it", async () => {
  const { path, digest } = archive();
  await using cache = openCache();
  const { resource, dir, fetch } = await cache.resolve({ kind: "zip", url: path, sha256: digest });
  const files = { "top/step.yml": "spec: {}\n", "top/run": "x #!/bin/sh\n", "top/link": "-> step.yml" };
  expect(snapshot(dir)).toEqual(files);
  expect(fetch.isHit).toBe(false);
  const repository = await createGitRepository(join(tempDir(), "same"), {}, { objectFormat: "sha256" });
  const blob = (text: string): Promise<string> => repository.blob(text);
  const top = await repository.tree([
    { mode: "120000", name: "link", id: await blob("step.yml") },
    { mode: "100755", name: "run", id: await blob("#!/bin/sh\n") },
    { mode: "100644", name: "step.yml", id: await blob("spec: {}\n") },
  ]);
  expect(resource).toEqual({
    kind: "zip",
    uri: path,
    requestedVersion: "",
    resolvedVersion: "",
    digest: { sha256: digest, gitTree: await repository.tree([{ mode: "40000", name: "top", id: top }]) },
    isMutable: false,
  });
  const again = await cache.resolve({ kind: "zip", url: `file://${path}` });
  expect([again.dir, again.fetch.isHit, again.resource.isMutable]).toEqual([dir, true, true]);
  expect(await codeOf(cache.resolve({ kind: "zip", url: path, sha256: "0".repeat(64) }))).toBe("DIGEST_MISMATCH");
  expect(await codeOf(cache.resolve({ kind: "zip", url: path, sha256: "0" }))).toBe("REFERENCE_INVALID");
  expect(await codeOf(cache.resolve({ kind: "zip", url: `${path}.none` }))).toBe("REFERENCE_NOT_FOUND");
});

test("resolve() downloads once, asks whether it changed, and needs no network for a known digest", async () => {
  const { data, digest } = archive();
  const server = await startFileServer({ "/a.zip": data });
  const root = join(tempDir(), "cache");
  const url = `${server.url}/a.zip`;
  await using first = openCache({ root });
  const fetched = await first.resolve({ kind: "zip", url });
  expect([fetched.fetch.isHit, fetched.fetch.bytes]).toEqual([false, data.byteLength]);
  await first.resolve({ kind: "zip", url });
  expect(server.requests).toHaveLength(1);
  await using second = openCache({ root });
  const same = await second.resolve({ kind: "zip", url });
  expect([same.fetch.isHit, server.requests.at(-1)?.headers["if-none-match"]]).toEqual([true, `"${digest}"`]);
  const changed = buildZip([{ name: "step.yml", content: "new" }]);
  server.set("/a.zip", changed);
  await using third = openCache({ root });
  const moved = await third.resolve({ kind: "zip", url });
  expect(snapshot(moved.dir)).toEqual({ "step.yml": "new" });
  expect((await second.resolve({ kind: "zip", url })).resource).toEqual(same.resource);
  const pinned = await third.resolve({ kind: "zip", url }, { pin: same.resource });
  expect(pinned.resource.digest).toEqual(same.resource.digest);
  await server.close();
  await using later = openCache({ root });
  expect((await later.resolve({ kind: "zip", url, sha256: digest })).fetch.isHit).toBe(true);
  expect(await codeOf(later.resolve({ kind: "zip", url }))).toBe("TRANSPORT");
  await using offline = openCache({ root, isOffline: true });
  expect((await offline.resolve({ kind: "zip", url })).resource.digest["sha256"]).toBe(sha256(changed));
  expect(await codeOf(offline.resolve({ kind: "zip", url: `${url}x` }))).toBe("OFFLINE");
});

test("resolve() sends credentials to the archive's own host only", async () => {
  const { data } = archive();
  await using target = await startFileServer({ "/a.zip": data });
  await using source = await startFileServer(
    {},
    {
      auth: { username: "u", password: "p" },
      onRequest: ({ headers }) => (headers["authorization"] ? { redirect: `${target.url}/a.zip` } : undefined),
    },
  );
  await using cache = openCache();
  expect(await codeOf(cache.resolve({ kind: "zip", url: `${source.url}/a.zip` }))).toBe("AUTH_FAILED");
  const url = `${source.url.replace("//", "//u:p@")}/a.zip`;
  const { resource } = await cache.resolve({ kind: "zip", url });
  expect(resource.uri).toBe(`${source.url}/a.zip`);
  expect(target.requests.map(({ headers }) => headers["authorization"])).toEqual([undefined]);
});

test("resolve() gives up on a server that sends too much, redirects for ever or says nothing", async () => {
  await using server = await startFileServer(
    { "/big.zip": Buffer.alloc(2000) },
    {
      onRequest({ url }) {
        if (url === "/loop.zip") return { redirect: "/loop.zip" };
        if (url === "/file.zip") return { redirect: "file:///etc/passwd" };
        return url === "/slow.zip" ? "hang" : undefined;
      },
    },
  );
  const root = join(tempDir(), "cache");
  await using cache = openCache({ root, limits: { maxDownloadBytes: 1000, fetchTimeoutMs: 1000 } });
  const at = (name: string): Promise<unknown> => codeOf(cache.resolve({ kind: "zip", url: `${server.url}/${name}` }));
  expect(await Promise.all(["big.zip", "loop.zip", "file.zip", "slow.zip", "none.zip"].map(at))).toEqual([
    "ARCHIVE_TOO_LARGE",
    "TRANSPORT",
    "TRANSPORT",
    "TRANSPORT",
    "REFERENCE_NOT_FOUND",
  ]);
  expect(leftovers(root)).toEqual([]);
});

const entry = (name: string | Uint8Array, more: Partial<ZipEntryInput> = {}): ZipEntryInput => ({
  name,
  content: "x",
  ...more,
});
const mebibyte = Buffer.alloc(1024 * 1024);

const HOSTILE: Readonly<Record<string, [code: string, entries: ZipEntryInput[]]>> = {
  traversal: ["UNSAFE_ENTRY", [entry("../evil")]],
  "inner traversal": ["UNSAFE_ENTRY", [entry("a/../../evil")]],
  absolute: ["UNSAFE_ENTRY", [entry("/tmp/evil")]],
  backslash: ["UNSAFE_ENTRY", [entry("..\\evil")]],
  drive: ["UNSAFE_ENTRY", [entry("C:evil")]],
  "empty name": ["UNSAFE_ENTRY", [entry("")]],
  "empty part": ["UNSAFE_ENTRY", [entry("a//b")]],
  "control character": ["UNSAFE_ENTRY", [entry("a\u0000b")]],
  "not UTF-8": ["UNSAFE_ENTRY", [entry(Buffer.from([0x61, 0xff]))]],
  "git folder": ["UNSAFE_ENTRY", [entry(".git/config")]],
  "git folder, short name": ["UNSAFE_ENTRY", [entry("GIT~1/config")]],
  device: ["UNSAFE_ENTRY", [entry("dev", { mode: 0o020666 })]],
  pipe: ["UNSAFE_ENTRY", [entry("pipe", { mode: 0o010666 })]],
  "the same name twice": ["UNSAFE_ENTRY", [entry("a"), entry("a")]],
  "the same name in another case": ["UNSAFE_ENTRY", [entry("a"), entry("A")]],
  "file below a file": ["UNSAFE_ENTRY", [entry("a"), entry("a/b")]],
  "file where a folder is": ["UNSAFE_ENTRY", [entry("a/b"), entry("a")]],
  "file through a link": ["UNSAFE_ENTRY", [entry("l", { content: "/tmp", mode: 0o120777 }), entry("l/evil")]],
  "link out": ["UNSAFE_ENTRY", [entry("l", { content: "../../etc", mode: 0o120777 })]],
  "absolute link": ["UNSAFE_ENTRY", [entry("l", { content: "/etc", mode: 0o120777 })]],
  "too deep": ["UNSAFE_ENTRY", [entry("a/".repeat(70) + "b")]],
  encrypted: ["ARCHIVE_INVALID", [entry("a", { isMarkedEncrypted: true })]],
  "another method": ["ARCHIVE_INVALID", [entry("a", { declaredMethod: 14 })]],
  "another local name": ["ARCHIVE_INVALID", [entry("a", { localName: "b" })]],
  "shared data": ["ARCHIVE_INVALID", [entry("a"), entry("b", { sharesDataOf: 0 })]],
  "folder with the name of a file": ["ARCHIVE_INVALID", [entry("a", { mode: 0o040755, content: "" })]],
  "wrong checksum": ["ARCHIVE_INVALID", [entry("a", { declaredCrc32: 1 })]],
  "larger than declared": ["ARCHIVE_INVALID", [entry("a", { content: "x".repeat(99), declaredBytes: 9 })]],
  "smaller than declared": ["ARCHIVE_INVALID", [entry("a", { content: "x".repeat(9), declaredBytes: 99 })]],
  "broken data": ["ARCHIVE_INVALID", [entry("a", { rawData: Buffer.from("no deflate"), declaredMethod: 8 })]],
  "bomb in one file": ["ARCHIVE_TOO_LARGE", [entry("a", { content: Buffer.alloc(12 * 1024 * 1024) })]],
  "bomb in many files": [
    "ARCHIVE_TOO_LARGE",
    Array.from({ length: 12 }, (_, index) => entry(`a${index}`, { content: mebibyte })),
  ],
  "too large by declaration": ["ARCHIVE_TOO_LARGE", [entry("a", { declaredBytes: 0x7fffffff })]],
};

test("resolve() refuses every hostile archive and leaves nothing of it", async () => {
  const root = join(tempDir(), "cache");
  await using cache = openCache({ root });
  const results: Record<string, unknown> = {};
  for (const [name, [, entries]] of Object.entries(HOSTILE)) {
    results[name] = await codeOf(cache.resolve({ kind: "zip", url: archive(entries).path }));
  }
  expect(results).toEqual(Object.fromEntries(Object.entries(HOSTILE).map(([name, [code]]) => [name, code])));
  expect(readdirSync(join(root, "trees"))).toEqual([]);
  expect(leftovers(root)).toEqual([]);
});

test("resolve() refuses what is no archive, or only half of one", async () => {
  await using cache = openCache();
  const { data } = archive();
  for (const content of [
    Buffer.alloc(0),
    Buffer.from("hello"),
    data.subarray(0, data.byteLength - 30),
    data.subarray(40),
  ]) {
    const path = join(tempDir(), "a.zip");
    writeFileSync(path, content);
    expect(await codeOf(cache.resolve({ kind: "zip", url: path }))).toBe("ARCHIVE_INVALID");
  }
});
