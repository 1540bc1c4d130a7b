import { createHash, randomBytes } from "node:crypto";
import { connect } from "node:net";
import type { JobPayload } from "@steps/runner-api/job";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { readS3Settings } from "../src/artifacts/store/s3-settings.ts";
import { s3Store } from "../src/artifacts/store/s3-store.ts";
import { runnerInfo, startPod, takeJob, type TestPod, until } from "./pod-harness.ts";
import { S3_KEYS, S3Server } from "./s3-server.ts";

const MIB = 1024 * 1024;
let store: S3Server;
let pod: TestPod;
let runnerToken: string;

beforeAll(async () => {
  store = await new S3Server().start();
  for (const [name, value] of Object.entries(S3_KEYS)) vi.stubEnv(name, value);
  pod = await startPod({ artifacts: store.address(), artifactLimit: 64 * MIB });
  runnerToken = (await pod.createRunner()).token;
});
beforeEach(() => (store.fault = undefined));
afterAll(async () => {
  vi.unstubAllEnvs();
  await pod.stop();
  await store.close();
});

async function nextJob(): Promise<JobPayload> {
  await pod.createPipeline({});
  const job = await until(async () => await takeJob(pod, runnerToken));
  await pod.api.updateJob(job.id, { token: job.token, state: "running", info: runnerInfo() });
  return job;
}

async function upload({ id, token }: JobPayload, bytes: Uint8Array, query = ""): Promise<Response> {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(bytes)]), "artifacts.zip");
  const headers = { "job-token": token };
  return await fetch(`${pod.url}/api/v4/jobs/${id}/artifacts?${query}`, { method: "POST", headers, body: form });
}

async function download({ id, token }: JobPayload, query = "", headers: object = {}): Promise<Response> {
  return await fetch(`${pod.url}/api/v4/jobs/${id}/artifacts${query}`, {
    headers: { "job-token": token, ...headers },
    redirect: "manual",
  });
}

const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

test("a small artifact is one object, and comes back as a whole, in part, and by a redirect without a token", async () => {
  const job = await nextJob();
  expect((await upload(job, Buffer.from("content"))).status).toBe(201);
  expect([...store.objects.keys()].at(-1)).toMatch(new RegExp(`^ci/pods/objects/\\d+/${job.id}\\.1\\.`, "u"));
  const whole = await download(job);
  expect([whole.status, await whole.text()]).toEqual([200, "content"]);
  const part = await download(job, "", { range: "bytes=2-4" });
  expect([part.status, await part.text(), part.headers.get("content-range")]).toEqual([206, "nte", "bytes 2-4/7"]);
  const redirect = await download(job, "?direct_download=true");
  expect(redirect.status).toBe(302);
  const location = redirect.headers.get("location") ?? "";
  expect(location).toMatch(/X-Amz-Expires=300/u);
  const direct = await fetch(location);
  expect([direct.status, await direct.text()]).toEqual([200, "content"]);
  expect(direct.headers.get("content-disposition")).toContain("artifacts.zip");
  expect((await fetch(location.replace("Expires=300", "Expires=900"))).status).toBe(403);
});

test("a large artifact goes in parts of 8 MiB, whatever the store refuses once, and comes back byte for byte", async () => {
  const job = await nextJob();
  const bytes = randomBytes(21 * MIB);
  let faults = 0;
  store.fault = (request, response) => {
    if (request.method === "GET" || faults++ % 2 === 1) return false;
    if (faults % 4 === 1)
      request.resume().once("end", () => response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>"));
    else response.destroy();
    return true;
  };
  expect((await upload(job, bytes)).status).toBe(201);
  expect(faults).toBeGreaterThan(6);
  expect(store.longest).toBe(8 * MIB);
  expect(store.uploads.size).toBe(0);
  const back = new Uint8Array(await (await download(job)).arrayBuffer());
  expect(digest(back)).toBe(digest(bytes));
});

test("an answer to the last word that was lost counts: the object is there", async () => {
  const job = await nextJob();
  let isLost = false;
  store.fault = (request, response, url) => {
    if (isLost || request.method !== "POST" || !url.searchParams.has("uploadId")) return false;
    isLost = true;
    const end = response.end.bind(response);
    response.end = (() => (response.destroy(), response)) as typeof end;
    return false;
  };
  expect((await upload(job, randomBytes(9 * MIB))).status).toBe(201);
  expect(isLost).toBe(true);
});

test("a store that is down is 503 with a time to come back, up and down, and nothing is left of it", async () => {
  const job = await nextJob();
  store.fault = (_request, response) => (response.destroy(), true);
  const reply = await upload(job, Buffer.from("content"));
  expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "5"]);
  expect((await pod.job(job.id)).artifacts).toEqual([]);
  store.fault = undefined;
  expect((await upload(job, Buffer.from("content"))).status).toBe(201);
  store.fault = (_request, response) => (response.destroy(), true);
  expect((await download(job)).status).toBe(503);
  expect(await reply.text()).not.toContain(S3_KEYS.AWS_SECRET_ACCESS_KEY);
});

test("an upload that is cut in the middle leaves neither an object nor an upload", async () => {
  const job = await nextJob();
  const before = store.objects.size;
  const socket = connect(Number(new URL(pod.url).port), "127.0.0.1");
  const head = `POST /api/v4/jobs/${job.id}/artifacts HTTP/1.1\r\nHost: x\r\nJOB-TOKEN: ${job.token}\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: 30000000\r\n\r\n`;
  socket.write(`${head}--B\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n`);
  socket.write(randomBytes(10 * MIB));
  await until(() => Promise.resolve(store.uploads.size === 1));
  socket.destroy();
  await until(() => Promise.resolve(store.uploads.size === 0));
  expect(store.objects.size).toBe(before);
  expect((await pod.job(job.id)).artifacts).toEqual([]);
});

test("what the store has changed, or cuts off, is never taken for the artifact", async () => {
  const job = await nextJob();
  const bytes = randomBytes(3 * MIB);
  await upload(job, bytes);
  const key = [...store.objects.keys()].at(-1) as string;
  const changed = Buffer.from(bytes);
  changed[MIB] = (changed[MIB] as number) ^ 1;
  store.objects.set(key, changed);
  await expect((await download(job)).arrayBuffer()).rejects.toThrow();
  store.objects.set(key, bytes);
  store.fault = (request, response) => {
    if (request.method !== "GET") return false;
    response.writeHead(200, { "content-length": bytes.length });
    response.write(bytes.subarray(0, MIB), () => response.destroy());
    return true;
  };
  await expect((await download(job)).arrayBuffer()).rejects.toThrow();
  store.fault = undefined;
  expect(digest(new Uint8Array(await (await download(job)).arrayBuffer()))).toBe(digest(bytes));
});

test("an artifact whose time is over goes, after the store was down too; one that is refused leaves no object", async () => {
  const job = await nextJob();
  store.fault = (request, response) => request.method === "DELETE" && (response.destroy(), true);
  expect((await upload(job, Buffer.from("short"), "expire_in=1")).status).toBe(201);
  const key = [...store.objects.keys()].at(-1) as string;
  await until(async () => (await download(job)).status === 404);
  expect(store.objects.has(key)).toBe(true);
  store.fault = undefined;
  await until(() => Promise.resolve(!store.objects.has(key)));
  const other = await nextJob();
  expect((await upload(other, Buffer.from("one"))).status).toBe(201);
  const count = store.objects.size;
  expect((await upload(other, Buffer.from("another"))).status).toBe(400);
  expect((await upload(other, Buffer.from("one"))).status).toBe(201);
  expect(store.objects.size).toBe(count);
});

test("tidy() aborts uploads of a day ago below its own prefix, and no others", async () => {
  const settings = readS3Settings(store.address(), S3_KEYS);
  const yesterday = new Date(Date.now() - 25 * 3_600_000).toISOString();
  const begun = { old: yesterday, new: new Date().toISOString() };
  for (const [id, at] of Object.entries(begun))
    store.uploads.set(id, { key: `ci/pods/objects/0/${id}`, begun: at, parts: new Map() });
  store.uploads.set("foreign", { key: "other/objects/0/1", begun: yesterday, parts: new Map() });
  await s3Store(settings, { maxBytes: MIB }).tidy();
  expect([...store.uploads.keys()].toSorted()).toEqual(["foreign", "new"]);
  store.uploads.clear();
});

test("a pod does not start with credentials or a bucket that nobody knows, and says nothing secret", async () => {
  const start = async (address: string): Promise<unknown> =>
    await startPod({ artifacts: address }).then(
      async (started) => await started.stop(),
      (error: unknown) => String(error),
    );
  expect(await start(store.address().replace("bucket", "nothing-here"))).toContain("NoSuchBucket");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "a-wrong-secret");
  const refused = await start(store.address());
  expect(refused).toContain("SignatureDoesNotMatch");
  expect(refused).not.toContain("a-wrong-secret");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "");
  expect(await start(store.address())).toContain("there are no credentials");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", S3_KEYS.AWS_SECRET_ACCESS_KEY);
});

test("readS3Settings() takes what an address leaves out from the variables of AWS's tools", () => {
  const of = (address: string, env: object = {}): object => readS3Settings(address, { ...S3_KEYS, ...env });
  expect(of("s3://b-1")).toMatchObject({ base: "https://b-1.s3.us-east-1.amazonaws.com", redirects: true });
  expect(of("s3://b-1/p/q/", { AWS_DEFAULT_REGION: "eu-west-3" })).toMatchObject({
    base: "https://b-1.s3.eu-west-3.amazonaws.com/p/q",
    prefix: "p/q/",
  });
  expect(of("s3://b-1?redirect=false", { AWS_ENDPOINT_URL: "https://minio:9000/" })).toMatchObject({
    base: "https://minio:9000/b-1",
    redirects: false,
  });
  for (const bad of [
    "s3://",
    "https://b-1",
    "s3://B_1/x",
    "s3://b-1?endpont=x",
    "s3://b-1?addressing=x",
    "s3://u:p@b-1",
  ])
    expect(() => of(bad)).toThrow("The store of artifacts cannot be used");
});
