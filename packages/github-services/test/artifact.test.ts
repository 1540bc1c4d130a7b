import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { createArtifactRegistry } from "../src/index.ts";
import { openServices } from "./fixtures.ts";
import type { Reply, Wire } from "./wire.ts";
import { openWire } from "./wire.ts";

const RUN = { workflow_run_backend_id: "17", workflow_job_run_backend_id: "build" };
const V3 = "_apis/pipelines/workflows/17/artifacts";

/** Uploads by v4 and gives the answer to the end of it. */
async function upload(
  wire: Wire,
  name: string,
  options: { type?: string; hash?: string; body?: string } = {},
): Promise<Reply> {
  const { type = "application/zip", body = "content" } = options;
  const created = await wire.call("Artifact", "CreateArtifact", { ...RUN, name, version: 7, mime_type: type });
  if (created.status !== 200) return created;
  await wire.send("PUT", String(created.json["signed_upload_url"]), { body });
  const size = String(Buffer.byteLength(body));
  const hash = options.hash === undefined ? {} : { hash: options.hash };
  return await wire.call("Artifact", "FinalizeArtifact", { ...RUN, name, size, ...hash });
}

/** Begins an artifact by v3 and gives the path of its container. */
async function container(wire: Wire, name: string): Promise<string> {
  const { json } = await wire.send("POST", `${V3}?api-version=6.0-preview`, {
    body: { Type: "actions_storage", Name: name },
  });
  return String(json["fileContainerResourceUrl"]).slice(wire.baseUrl.length);
}

async function putItem(
  wire: Wire,
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<number> {
  const length = Buffer.byteLength(body);
  const range = { "Content-Range": `bytes 0-${length - 1}/${length}` };
  return (await wire.send("PUT", path, { body, headers: { ...range, ...headers } })).status;
}

function item(base: string, path: string): string {
  return `${base}?itemPath=${encodeURIComponent(path)}`;
}

test("names cannot lead out of the folder of artifacts", async () => {
  const dir = tempDir();
  const artifactDir = join(dir, "artifacts");
  const wire = openWire(await openServices({ artifactDir }));
  const names = [
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "a\\b",
    "/etc",
    "nul\u0000",
    "a\nb",
    "a:b",
    'a"b',
    "a*",
    "n".repeat(256),
  ];
  for (const name of names) {
    expect([name, (await upload(wire, name)).status]).toEqual([name, 400]);
    const old = await wire.send("POST", V3, { body: { Name: name } });
    expect([name, old.status]).toEqual([name, 400]);
  }
  const base = await container(wire, "site");
  const paths = [
    "",
    "site",
    "site/",
    "other/a",
    "site/../a",
    "site/../../a",
    "site/a/../b",
    "site//a",
    "site/./a",
    "/site/a",
    "site\\..\\a",
    "site/a\u0000",
    `site/${"n".repeat(256)}`,
    `site/${"n/".repeat(3000)}x`,
  ];
  for (const path of paths) expect([path, await putItem(wire, item(base, path), "x")]).toEqual([path, 400]);
  expect(readdirSync(dir, { recursive: true }).filter((name) => !String(name).includes(".steps-uploads"))).toEqual([
    "artifacts",
  ]);
});

test("v4 checks size and digest, keeps names apart and writes over nothing", async () => {
  const artifactDir = join(tempDir(), "artifacts");
  mkdirSync(artifactDir);
  writeFileSync(join(artifactDir, "mine.zip"), "mine");
  const services = await openServices({ artifactDir });
  const wire = openWire(services);
  const hash = `sha256:${createHash("sha256").update("content").digest("hex")}`;
  expect((await upload(wire, "wrong", { hash: hash.replace(/.$/, "x") })).status).toBe(400);
  expect((await upload(wire, "right", { hash })).json).toMatchObject({ ok: true });
  await upload(wire, "page.html", { type: "text/html; charset=utf-8" });
  await upload(wire, "packed.zip");
  await upload(wire, "packed");
  await upload(wire, "mine");
  expect(services.artifacts().map(({ path }) => path.slice(artifactDir.length + 1))).toEqual([
    "right.zip",
    "page.html",
    "packed.zip",
    "packed-2.zip",
    "mine-2.zip",
  ]);
  expect(readFileSync(join(artifactDir, "mine.zip"), "utf8")).toBe("mine");
  expect((await upload(wire, "right")).json).toEqual({
    code: "already_exists",
    msg: "an artifact with this name already exists on the workflow run",
  });
  expect((await upload(wire, "bad type", { type: "text/html\r\nX: y" })).status).toBe(400);

  const listed = await wire.call("Artifact", "ListArtifacts", { ...RUN, name_filter: "right" });
  expect(listed.json["artifacts"]).toEqual([
    {
      ...RUN,
      database_id: expect.any(String) as string,
      name: "right",
      size: "7",
      created_at: expect.any(String) as string,
      digest: hash,
    },
  ]);
  const { json } = await wire.call("Artifact", "GetSignedArtifactURL", { ...RUN, name: "page.html" });
  const got = await wire.send("GET", String(json["signed_url"]));
  expect([got.text, got.headers.get("content-type"), got.headers.get("content-disposition")]).toEqual([
    "content",
    "text/html; charset=utf-8",
    `attachment; filename="page.html"; filename*=UTF-8''page.html`,
  ]);
  const other = { ...RUN, workflow_run_backend_id: "18" };
  expect((await wire.call("Artifact", "ListArtifacts", other)).status).toBe(403);
  expect((await wire.call("Artifact", "DeleteArtifact", { ...RUN, name: "none" })).status).toBe(404);
  await services.close();
  expect(readdirSync(artifactDir).toSorted()).toEqual([
    "mine-2.zip",
    "mine.zip",
    "packed-2.zip",
    "packed.zip",
    "page.html",
    "right.zip",
  ]);
});

test("artifacts together keep to the limit, and deleting one makes room", async () => {
  const services = await openServices({ limits: { maxArtifactBytes: 20, maxArtifacts: 3 } });
  const wire = openWire(services);
  expect((await upload(wire, "a", { body: "x".repeat(12) })).status).toBe(200);
  expect((await upload(wire, "b", { body: "x".repeat(12) })).status).toBe(400);
  await wire.call("Artifact", "DeleteArtifact", { ...RUN, name: "a" });
  expect((await upload(wire, "b", { body: "x".repeat(12) })).status).toBe(200);
  const base = await container(wire, "old");
  const bomb = gzipSync(Buffer.alloc(1000));
  const gzip = { "Content-Encoding": "gzip" };
  expect(await putItem(wire, item(base, "old/a"), bomb, { ...gzip, "x-tfs-filelength": "1000" })).toBe(413);
  expect(await putItem(wire, item(base, "old/a"), "5678")).toBe(201);
  expect(await putItem(wire, item(base, "old/a"), "1234")).toBe(201);
  expect(await putItem(wire, item(base, "old/b"), "1234")).toBe(201);
  expect(await putItem(wire, item(base, "old/c"), "1")).toBe(413);
  await upload(wire, "c", { body: "" });
  expect((await upload(wire, "d", { body: "" })).status).toBe(200);
  expect((await upload(wire, "e", { body: "" })).status).toBe(413);
});

test("v3 publishes items together, adds to them later, and takes no part that is not what it says", async () => {
  const artifactDir = join(tempDir(), "artifacts");
  const services = await openServices({ artifactDir });
  const wire = openWire(services);
  const base = await container(wire, "site");
  expect(await putItem(wire, item(base, "site/a"), "one")).toBe(201);
  expect(await putItem(wire, item(base, "site\\dir\\b"), "two")).toBe(201);
  const range = (text: string): Record<string, string> => ({ "Content-Range": text });
  const path = item(base, "site/parts");
  const parts: [string, string, number][] = [
    ["bytes 3-5/6", "def", 201],
    ["bytes 4-6/7", "abc", 400],
    ["bytes 0-2/*", "abc", 400],
    ["bytes 0-3/6", "abc", 400],
    ["bytes 4-9/6", "abcdef", 400],
    ["bytes 0-2/6", "abc", 201],
  ];
  for (const [header, body, status] of parts) {
    expect([header, await putItem(wire, path, body, range(header))]).toEqual([header, status]);
  }
  const md5 = { "x-actions-results-md5": createHash("md5").update("other").digest("base64") };
  expect(await putItem(wire, item(base, "site/c"), "this", md5)).toBe(400);
  const gzip = { "Content-Encoding": "gzip", "x-tfs-filelength": "4" };
  expect(await putItem(wire, item(base, "site/d"), gzipSync("longer"), gzip)).toBe(400);
  expect(await putItem(wire, item(base, "site/d"), gzipSync("abc"), gzip)).toBe(400);
  expect(await putItem(wire, item(base, "site/d"), "no gzip", gzip)).toBe(400);
  expect(await putItem(wire, item(base, "site/d"), "x", { "Content-Encoding": "br" })).toBe(400);
  expect(await putItem(wire, item(base, "site/d"), gzipSync("four"), gzip)).toBe(201);
  expect(await putItem(wire, item(base, "site/a/below"), "x")).toBe(400);
  expect(existsSync(join(artifactDir, "site"))).toBe(false);

  const publish = async (): Promise<unknown> =>
    (await wire.send("PATCH", `${V3}?artifactName=site`, { body: { Size: 1 } })).json["size"];
  expect(await publish()).toBe(16);
  const files = (): string[] =>
    ["a", "dir/b", "parts", "d"].map((name) => readFileSync(join(artifactDir, "site", name), "utf8"));
  expect(files()).toEqual(["one", "two", "abcdef", "four"]);

  expect(await container(wire, "site")).toBe(base);
  expect(await putItem(wire, item(base, "site/dir/b"), "second")).toBe(201);
  expect(await publish()).toBe(19);
  expect(files()).toEqual(["one", "second", "abcdef", "four"]);
  const listed = (await wire.send("GET", item(base, "site"))).json["value"] as Record<string, unknown>[];
  expect(listed.map(({ path, fileLength }) => [path, fileLength])).toEqual([
    ["site/a", 3],
    ["site/dir/b", 6],
    ["site/parts", 6],
    ["site/d", 4],
  ]);
  const location = String(listed[1]?.["contentLocation"]);
  expect((await wire.send("GET", location)).status).toBe(401);
  expect((await wire.send("GET", location.slice(wire.baseUrl.length))).text).toBe("second");
  expect((await wire.send("PATCH", `${V3}?artifactName=none`, { body: {} })).status).toBe(404);
  expect((await wire.send("GET", "_apis/resources/Containers/99")).status).toBe(404);
});

test("v3 does not follow a link that a step put in its way", async () => {
  const dir = tempDir();
  const [artifactDir, outside] = [join(dir, "artifacts"), join(dir, "outside")];
  mkdirSync(outside);
  writeFileSync(join(outside, "file"), "precious");
  const wire = openWire(await openServices({ artifactDir }));
  symlinkSync(outside, join(artifactDir, "site"));
  const base = await container(wire, "site");
  await putItem(wire, item(base, "site/a"), "one");
  const published = await wire.send("PATCH", `${V3}?artifactName=site`, { body: {} });
  expect(published.status).toBe(200);
  expect(readFileSync(join(artifactDir, "site-2", "a"), "utf8")).toBe("one");

  symlinkSync(outside, join(artifactDir, "site-2", "dir"));
  symlinkSync(join(outside, "file"), join(artifactDir, "site-2", "link"));
  await putItem(wire, item(base, "site/dir/b"), "two");
  expect((await wire.send("PATCH", `${V3}?artifactName=site`, { body: {} })).status).toBe(409);
  await putItem(wire, item(base, "site/link"), "three");
  expect((await wire.send("GET", item(`${base}/item`, "site/link"))).status).toBe(404);
  expect(readdirSync(outside)).toEqual(["file"]);
  expect(readFileSync(join(outside, "file"), "utf8")).toBe("precious");
});

test("startServices() lets a later job download what an earlier one uploaded, and names only its own", async () => {
  const artifacts = createArtifactRegistry(10);
  const artifactDir = join(tempDir(), "artifacts");
  const first = await openServices({ artifactDir, artifacts });
  expect((await upload(openWire(first), "site", { body: "from the first" })).status).toBe(200);
  expect(first.artifacts().map(({ name }) => name)).toEqual(["site"]);
  await first.close();
  const second = await openServices({ artifactDir, artifacts });
  const wire = openWire(second);
  const { json } = await wire.call("Artifact", "GetSignedArtifactURL", { ...RUN, name: "site" });
  expect((await wire.send("GET", String(json["signed_url"]))).text).toBe("from the first");
  expect(second.artifacts()).toEqual([]);
  expect((await upload(wire, "site")).status).toBe(409);
});
