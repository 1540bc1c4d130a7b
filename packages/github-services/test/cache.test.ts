import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { openServices } from "./fixtures.ts";
import { openWire } from "./wire.ts";

/** Files below a folder, as paths from it. */
function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
}

function archivesIn(cacheDir: string): string[] {
  return filesIn(join(cacheDir, "entries")).filter((path) => path.endsWith("archive"));
}

test("lookups find the key itself, then the newest that begins with it, key by key", async () => {
  const wire = openWire(await openServices());
  for (const key of ["npm-a-1", "npm-a-2", "npm-b-1", "npm-a-0", "npm"]) await wire.save(key, key);
  expect(await wire.find(["npm-a-1"])).toBe("npm-a-1");
  expect(await wire.find(["npm-a-"])).toBe("npm-a-0");
  expect(await wire.find(["npm"])).toBe("npm");
  expect(await wire.find(["npm-"])).toBe("npm-a-0");
  expect(await wire.find(["none", "npm-c-", "npm-b-", "npm-a-"])).toBe("npm-b-1");
  expect(await wire.find(["none"])).toBe(undefined);
  expect(await wire.find(["npm-a-1"], "another version")).toBe(undefined);
  expect(await wire.find(["NPM-A-1"])).toBe("npm-a-1");
});

test("a scope sees its own caches only", async () => {
  const cacheDir = join(tempDir(), "cache");
  const one = openWire(await openServices({ cacheDir, scope: "group/one" }));
  const two = openWire(await openServices({ cacheDir, scope: "group/two" }));
  await one.save("key", "of one");
  expect(await two.find(["key", "k"])).toBe(undefined);
  await two.save("key", "of two");
  const { json } = await one.send("GET", "_apis/artifactcache/cache?keys=key&version=v");
  expect(json["scope"]).toBe("group/one");
  expect((await one.send("GET", String(json["archiveLocation"]))).text).toBe("of one");
});

test("both protocols see the same caches, and neither saves a key twice", async () => {
  const wire = openWire(await openServices());
  await wire.save("by v2", "content");
  const again = await wire.call("Cache", "CreateCacheEntry", { key: "by v2", version: "v" });
  expect([again.status, again.json]).toEqual([
    409,
    { code: "already_exists", msg: "cache entry with the same key, version, and scope already exists" },
  ]);
  const old = await wire.send("POST", "_apis/artifactcache/caches", { body: { key: "by v2", version: "v" } });
  expect([old.status, old.json["typeKey"]]).toEqual([409, "ArtifactCacheItemAlreadyExistsException"]);
  const list = await wire.send("GET", "_apis/artifactcache/caches?key=by");
  expect(list.json).toMatchObject({ totalCount: 1, artifactCaches: [{ cacheKey: "by v2", cacheVersion: "v" }] });
});

test("v1 takes ranges in any order and more than once, and nothing with a hole", async () => {
  const wire = openWire(await openServices());
  const reserve = async (key: string): Promise<string> => {
    const { json } = await wire.send("POST", "_apis/artifactcache/caches", {
      body: { key, version: "v", cacheSize: 9 },
    });
    return `_apis/artifactcache/caches/${String(json["cacheId"])}`;
  };
  const patch = async (path: string, range: string, body: string): Promise<number> =>
    (await wire.send("PATCH", path, { body, headers: { "Content-Range": range } })).status;
  const whole = await reserve("whole");
  expect(await patch(whole, "bytes 6-8/*", "ghi")).toBe(204);
  expect(await patch(whole, "bytes 0-2/*", "abc")).toBe(204);
  expect(await patch(whole, "bytes 0-2/*", "abc")).toBe(204);
  expect(await patch(whole, "bytes 2-6/*", "cdefg")).toBe(204);
  expect((await wire.send("POST", whole, { body: { size: 9 } })).status).toBe(204);
  const { json } = await wire.send("GET", "_apis/artifactcache/cache?keys=who&version=v");
  expect((await wire.send("GET", String(json["archiveLocation"]))).text).toBe("abcdefghi");

  const holed = await reserve("holed");
  expect(await patch(holed, "bytes 0-2/*", "abc")).toBe(204);
  expect(await patch(holed, "bytes 6-8/*", "ghi")).toBe(204);
  expect(await patch(holed, "bytes 3-5/*", "longer than it says")).toBe(400);
  expect(await patch(holed, "bytes 5-3/*", "")).toBe(400);
  expect(await patch(holed, "items 0-2", "abc")).toBe(400);
  expect((await wire.send("POST", holed, { body: { size: 9 } })).status).toBe(400);
  // The key is free again.
  expect((await wire.send("POST", await reserve("holed"), { body: { size: 0 } })).status).toBe(204);
  expect((await wire.send("PATCH", "_apis/artifactcache/caches/99", { body: "x" })).status).toBe(400);
  expect(await patch("_apis/artifactcache/caches/99", "bytes 0-0/*", "x")).toBe(404);
});

test("v2 puts blocks together in the order of their list", async () => {
  const wire = openWire(await openServices());
  const { json } = await wire.call("Cache", "CreateCacheEntry", { key: "k", version: "v" });
  const url = String(json["signed_upload_url"]);
  const id = (name: string): string => Buffer.from(name).toString("base64");
  const put = async (name: string, body: string): Promise<number> =>
    (await wire.send("PUT", `${url}&comp=block&blockid=${encodeURIComponent(id(name))}`, { body })).status;
  expect(await Promise.all([put("3", "ghi"), put("1", "wrong"), put("2", "def")])).toEqual([201, 201, 201]);
  expect(await put("1", "abc")).toBe(201);
  const commit = async (names: readonly string[]): Promise<number> => {
    const body = `<?xml version="1.0"?><BlockList>${names.map((name) => `<Latest>${id(name)}</Latest>`).join("")}</BlockList>`;
    return (await wire.send("PUT", `${url}&comp=blocklist`, { body })).status;
  };
  expect(await commit(["1", "4"])).toBe(400);
  expect(await commit(["1", "2", "3"])).toBe(201);
  const finish = { key: "k", version: "v", size_bytes: "9" };
  expect((await wire.call("Cache", "FinalizeCacheEntryUpload", finish)).json).toEqual({ ok: true, entry_id: "1" });
  expect((await wire.call("Cache", "FinalizeCacheEntryUpload", finish)).status).toBe(404);
  expect(await put("1", "late")).toBe(409);
  const found = await wire.call("Cache", "GetCacheEntryDownloadURL", { key: "k", restoreKeys: [], version: "v" });
  expect((await wire.send("GET", String(found.json["signed_download_url"]))).text).toBe("abcdefghi");
});

test("downloads answer ranges as clients ask for them", async () => {
  const wire = openWire(await openServices());
  await wire.save("k", "0123456789");
  const { json } = await wire.call("Cache", "GetCacheEntryDownloadURL", { key: "k", version: "v" });
  const url = String(json["signed_download_url"]);
  const get = async (headers: Record<string, string>, method = "GET"): Promise<unknown[]> => {
    const reply = await wire.send(method, url, { headers });
    return [reply.status, reply.text, reply.headers.get("content-range"), reply.headers.get("content-length")];
  };
  expect(await get({})).toEqual([200, "0123456789", null, "10"]);
  expect(await get({}, "HEAD")).toEqual([200, "", null, "10"]);
  expect(await get({ Range: "bytes=2-4" })).toEqual([206, "234", "bytes 2-4/10", "3"]);
  expect(await get({ "x-ms-range": "bytes=8-" })).toEqual([206, "89", "bytes 8-9/10", "2"]);
  expect(await get({ Range: "bytes=-3" })).toEqual([206, "789", "bytes 7-9/10", "3"]);
  expect(await get({ Range: "bytes=5-500" })).toEqual([206, "56789", "bytes 5-9/10", "5"]);
  expect(await get({ Range: "bytes=0-1,3-4" })).toEqual([200, "0123456789", null, "10"]);
  const [status, , range] = await get({ Range: "bytes=10-" });
  expect([status, range]).toEqual([416, "bytes */10"]);
});

test("what is not used for the longest makes room", async () => {
  const notes: string[] = [];
  const cacheDir = join(tempDir(), "cache");
  const limits = { maxCacheBytes: 300 };
  const wire = openWire(await openServices({ cacheDir, limits, onNote: (code) => notes.push(code) }));
  for (const key of ["a", "b", "c"]) await wire.save(key, "x".repeat(100));
  expect(await wire.find(["a"])).toBe("a");
  await wire.save("d", "x".repeat(100));
  expect(await wire.find(["b"])).toBe(undefined);
  expect(await Promise.all(["a", "c", "d"].map((key) => wire.find([key])))).toEqual(["a", "c", "d"]);
  expect(notes).toEqual(["cache-evicted"]);
  const { json } = await wire.call("Cache", "CreateCacheEntry", { key: "big", version: "v" });
  expect((await wire.send("PUT", String(json["signed_upload_url"]), { body: "x".repeat(301) })).status).toBe(413);
  const declared = { key: "declared", version: "v", cacheSize: 301 };
  expect((await wire.send("POST", "_apis/artifactcache/caches", { body: declared })).status).toBe(413);
  expect(archivesIn(cacheDir)).toHaveLength(3);
});

test("what somebody changed or put there is no cache, and is taken away", async () => {
  const notes: string[] = [];
  const dir = tempDir();
  const cacheDir = join(dir, "cache");
  const wire = openWire(await openServices({ cacheDir, onNote: (code) => notes.push(code) }));
  const outside = join(dir, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "file"), "secret");
  const damages: ((archive: string) => void)[] = [
    (archive) => truncateSync(archive, 3),
    (archive) => writeFileSync(join(archive, "..", "meta.json"), "{}"),
    (archive) => rmSync(join(archive, "..", "meta.json")),
    (archive) => {
      rmSync(archive);
      symlinkSync(join(outside, "file"), archive);
    },
    (archive) => {
      rmSync(join(archive, ".."), { recursive: true });
      symlinkSync(outside, join(archive, ".."));
    },
    (archive) => {
      rmSync(join(archive, "..", ".."), { recursive: true });
      symlinkSync(outside, join(archive, "..", ".."));
    },
  ];
  for (const damage of damages) {
    await wire.save("key", "secret");
    expect(await wire.find(["key"])).toBe("key");
    damage(archivesIn(cacheDir)[0] ?? "");
    expect(await wire.find(["key", "k"])).toBe(undefined);
  }
  expect(notes).toEqual(damages.map(() => "cache-damaged"));
  expect(readdirSync(outside)).toEqual(["file"]);
  expect(readFileSync(join(outside, "file"), "utf8")).toBe("secret");
});

test("keys and versions keep to GitHub's limits", async () => {
  const wire = openWire(await openServices());
  const statuses = async (message: object): Promise<number[]> => [
    (await wire.call("Cache", "CreateCacheEntry", message)).status,
    (await wire.call("Cache", "GetCacheEntryDownloadURL", message)).status,
  ];
  expect(await statuses({ key: "k".repeat(512), version: "v" })).toEqual([200, 200]);
  expect(await statuses({ key: "../../etc/passwd\u0000", version: "../.." })).toEqual([200, 200]);
  for (const message of [
    { key: "k".repeat(513), version: "v" },
    { key: "a,b", version: "v" },
    { key: "", version: "v" },
    { version: "v" },
    { key: "k" },
    { key: "k", version: "v".repeat(513) },
    { key: 7, version: "v" },
    { key: "k", version: ["v"] },
  ]) {
    expect(await statuses(message)).toEqual([400, 400]);
  }
  const keys = Array.from({ length: 11 }, (_, index) => `k${index}`);
  const many = { key: "k", restore_keys: keys, version: "v" };
  expect((await wire.call("Cache", "GetCacheEntryDownloadURL", many)).status).toBe(400);
});

test("a save that nobody writes to gives its key free", async () => {
  const wire = openWire(await openServices({ limits: { reservationMs: 0 } }));
  const first = await wire.call("Cache", "CreateCacheEntry", { key: "k", version: "v" });
  await expect
    .poll(async () => (await wire.call("Cache", "CreateCacheEntry", { key: "k", version: "v" })).status)
    .toBe(200);
  expect((await wire.send("PUT", String(first.json["signed_upload_url"]), { body: "late" })).status).toBe(409);
});
