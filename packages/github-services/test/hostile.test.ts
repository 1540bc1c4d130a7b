import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { openServices } from "./fixtures.ts";
import { openWire } from "./wire.ts";

const CREATE = "twirp/github.actions.results.api.v1.CacheService/CreateCacheEntry";

test("every request needs the token of the job", async () => {
  const services = await openServices();
  const wire = openWire(services);
  const other = openWire(await openServices());
  const paths = [
    "_apis/artifactcache/cache?keys=k&version=v",
    "_apis/pipelines/workflows/17/artifacts",
    CREATE,
    "",
    "none",
  ];
  for (const path of paths) {
    for (const authorization of [
      "",
      "Bearer",
      "Bearer x",
      `Basic ${wire.token}`,
      `Bearer ${other.token}`,
      `Bearer ${wire.token}x`,
    ]) {
      const reply = await wire.send("GET", path, { headers: { Authorization: authorization } });
      expect([path, authorization, reply.status]).toEqual([path, authorization, 401]);
      expect(reply.text).not.toContain(wire.token);
    }
  }
  const [, payload = ""] = wire.token.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
  expect(claims).toMatchObject({
    scp: "Actions.Results:17:build",
    ac: expect.stringContaining("Permission") as string,
  });
  expect((await wire.send("GET", "none")).status).toBe(404);
  expect((await wire.send("DELETE", "_apis/artifactcache/caches")).status).toBe(405);
});

test("ids that would break the token's claim are made to fit it", async () => {
  const services = await openServices({ runId: "a:b c", jobId: "" });
  const [, payload = ""] = openWire(services).token.split(".");
  expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toMatchObject({ scp: "Actions.Results:a-b-c:0" });
});

test("a signed URL is good for one thing and for a while", async () => {
  const wire = openWire(await openServices());
  const { json } = await wire.call("Cache", "CreateCacheEntry", { key: "k", version: "v" });
  const url = new URL(String(json["signed_upload_url"]));
  const statusOf = async (change: (url: URL) => void, method = "PUT"): Promise<number> => {
    const changed = new URL(url);
    change(changed);
    return (await wire.send(method, changed.href, method === "PUT" ? { body: "x" } : {})).status;
  };
  expect(await statusOf((one) => one.searchParams.set("sig", "x"))).toBe(403);
  expect(await statusOf((one) => one.searchParams.delete("sig"))).toBe(403);
  expect(await statusOf((one) => one.searchParams.set("se", String(Date.now() + 10 ** 9)))).toBe(403);
  expect(await statusOf((one) => (one.pathname = one.pathname.replace("upload", "download")), "GET")).toBe(403);
  expect(await statusOf((one) => (one.pathname = `${one.pathname}x`))).toBe(403);
  expect(await statusOf(() => undefined, "GET")).toBe(405);
  expect(await statusOf((one) => one.searchParams.set("comp", "appendblock"))).toBe(400);
  expect(await statusOf(() => undefined)).toBe(201);

  const hasty = openWire(await openServices({ limits: { signedUrlMs: 0 } }));
  const expired = await hasty.call("Cache", "CreateCacheEntry", { key: "k", version: "v" });
  expect((await hasty.send("PUT", String(expired.json["signed_upload_url"]), { body: "x" })).status).toBe(403);
});

test("bodies that are too large, malformed or lie about their length are refused and leave nothing", async () => {
  const cacheDir = join(tempDir(), "cache");
  const notes: string[] = [];
  const limits = { maxJsonBytes: 1000, maxCacheEntryBytes: 1000 };
  const wire = openWire(await openServices({ cacheDir, limits, onNote: (_, message) => notes.push(message) }));
  const json = { "Content-Type": "application/json" };
  const huge = await wire.send("POST", CREATE, { headers: json, body: " ".repeat(20_000_000) });
  expect([huge.status, huge.json["code"]]).toEqual([413, "resource_exhausted"]);
  for (const body of ["", "{", "[]", "null", '"k"', '{"key":{}}']) {
    expect((await wire.send("POST", CREATE, { headers: json, body })).status).toBe(400);
  }
  expect((await wire.send("POST", CREATE, { headers: { "Content-Type": "text/plain" }, body: "{}" })).status).toBe(404);

  const created = await wire.call("Cache", "CreateCacheEntry", { key: "k", version: "v" });
  const url = new URL(String(created.json["signed_upload_url"]));
  const target = `${url.pathname}${url.search}`;
  const put = async (headers: string, body: string): Promise<string> =>
    await wire.raw(`PUT ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n\r\n${body}`);
  expect(await put("Content-Length: 99999999999", "x")).toMatch(/^HTTP\/1\.1 413 /);
  expect(await put("Content-Length: 99999999999999999999", "x")).toMatch(/^HTTP\/1\.1 400 /);
  expect(await put("Transfer-Encoding: chunked", "1\r\nx\r\n0\r\n\r\n")).toMatch(/^HTTP\/1\.1 411 /);
  const refused = await wire.call("Cache", "FinalizeCacheEntryUpload", { key: "k", version: "v", size_bytes: "1" });
  expect(refused.status).toBe(400);
  expect(await wire.find(["k"])).toBe(undefined);
  const [work = ""] = readdirSync(join(cacheDir, "work"));
  expect(readdirSync(join(cacheDir, "work", work))).toEqual([]);
  expect(notes.join("\n")).not.toContain(url.searchParams.get("sig"));
});

test("an upload that is cut off can be sent again", async () => {
  const wire = openWire(await openServices());
  const { json } = await wire.call("Cache", "CreateCacheEntry", { key: "k", version: "v" });
  const url = new URL(String(json["signed_upload_url"]));
  const socket = connect(Number(url.port), url.hostname);
  socket.write(`PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf`);
  await once(socket, "connect");
  const finish = { key: "k", version: "v", size_bytes: "5" };
  socket.resetAndDestroy();
  await once(socket, "close");
  await expect.poll(async () => (await wire.send("PUT", url.href, { body: "whole" })).status).toBe(201);
  await expect
    .poll(async () => (await wire.call("Cache", "FinalizeCacheEntryUpload", finish)).json)
    .toMatchObject({ ok: true });
  expect(await wire.find(["k"])).toBe("k");
});

test("an upload cannot be finished while it is written, nor written when it is finished", async () => {
  const wire = openWire(await openServices());
  const { json } = await wire.call("Cache", "CreateCacheEntry", { key: "k", version: "v" });
  const url = new URL(String(json["signed_upload_url"]));
  await wire.send("PUT", url.href, { body: "12345" });
  const socket = connect(Number(url.port), url.hostname);
  const head = `PUT ${url.pathname}${url.search}&comp=block&blockid=YQ== HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n`;
  // The answer to `Expect` says that the body is being read.
  socket.write(`${head}Expect: 100-continue\r\n\r\n`);
  const [interim] = (await once(socket, "data")) as [Buffer];
  expect(interim.toString()).toMatch(/^HTTP\/1\.1 100 /);
  const finish = { key: "k", version: "v", size_bytes: "5" };
  expect((await wire.call("Cache", "FinalizeCacheEntryUpload", finish)).status).toBe(409);
  socket.write("late");
  const [final] = (await once(socket, "data")) as [Buffer];
  expect(final.toString()).toMatch(/^HTTP\/1\.1 201 /);
  socket.destroy();
  expect((await wire.call("Cache", "FinalizeCacheEntryUpload", finish)).status).toBe(200);
  expect((await wire.send("PUT", url.href, { body: "other" })).status).toBe(409);
});

test("a client that says nothing is let go", async () => {
  const wire = openWire(await openServices({ limits: { idleMs: 500 } }));
  const { json } = await wire.call("Cache", "CreateCacheEntry", { key: "k", version: "v" });
  const url = new URL(String(json["signed_upload_url"]));
  const slow = await wire.raw(
    `PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf`,
  );
  expect(slow).toBe("");
  await wire.raw("GET / HTTP/1.1\r\n");
  await expect.poll(async () => (await wire.send("PUT", url.href, { body: "whole" })).status).toBe(201);
});

test("open saves are counted", async () => {
  const wire = openWire(await openServices({ limits: { maxOpenUploads: 2 } }));
  const statuses: number[] = [];
  for (const key of ["a", "b", "c"]) {
    statuses.push((await wire.call("Cache", "CreateCacheEntry", { key, version: "v" })).status);
  }
  expect(statuses).toEqual([200, 200, 413]);
});

test("requests that are no HTTP, or for no path, do no harm", async () => {
  const wire = openWire(await openServices());
  expect(await wire.raw("\u0000\u0001garbage\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
  const bearer = `Authorization: Bearer ${wire.token}\r\nConnection: close\r\nHost: x\r\n\r\n`;
  expect(await wire.raw(`GET http://other/ HTTP/1.1\r\n${bearer}`)).toMatch(/^HTTP\/1\.1 400 /);
  expect(await wire.raw(`OPTIONS * HTTP/1.1\r\n${bearer}`)).toMatch(/^HTTP\/1\.1 400 /);
  expect(await wire.raw(`GET //%zz/..%2f.. HTTP/1.1\r\n${bearer}`)).toMatch(/^HTTP\/1\.1 404 /);
  expect((await wire.send("GET", "none")).status).toBe(404);
});
