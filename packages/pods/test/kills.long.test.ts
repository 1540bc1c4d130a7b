import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tempDir } from "@steps/testkit";
import type { JobPayload } from "@steps/runner-api/job";
import { connectRunnerApi } from "@steps/runner-api/client";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { findArchive, makeData } from "../src/database/make-data.ts";
import { databaseKinds, useDatabase } from "./databases.ts";
import { callAdmin, emptyState, runnerInfo, takeJob, until } from "./pod-harness.ts";
import { endPod, type PodProcess, spawnPod, startProcess } from "./pod-process.ts";
import { hasPostgres } from "@steps/testkit/postgres-server";

const jobsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `job ${i}`, stage: "test", payload: {} }));

async function traceOf({ url, adminToken }: Pick<PodProcess, "url" | "adminToken">, id: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let offset = 0; ;) {
    const headers = { authorization: `Bearer ${adminToken}` };
    const reply = await fetch(`${url}/api/pod/v1/jobs/${id}/trace?offset=${offset}`, { headers });
    const part = Buffer.from(await reply.arrayBuffer());
    parts.push(part);
    offset += part.length;
    if (offset >= Number(reply.headers.get("x-trace-size"))) return Buffer.concat(parts);
  }
}

describe.each(databaseKinds)("a pod with %s whose process is killed", (kind) => {
  const database = useDatabase(kind);

  test("gives out anew what no runner had confirmed, goes on with what one had, and has every byte of the traces", async () => {
    const options = { ...database.options(), leaseSeconds: 5 };
    const stateDir = await emptyState(options.databaseUrl);
    const first = await startProcess({ ...options, stateDir });
    const { token: runner } = await first.createRunner();
    await first.createPipeline({ jobs: jobsOf(12) });
    const sent = new Map<number, Buffer>();
    const take = async (): Promise<JobPayload> => (await takeJob(first, runner)) as JobPayload;
    const confirmed: JobPayload[] = [];
    for (let i = 0; i < 3; i++) {
      const payload = await take();
      const { id, token } = payload;
      const bytes = randomBytes(50_000);
      sent.set(id, bytes);
      const patch = { token, offset: 0, bytes: bytes.subarray(0, 20_000) };
      expect((await first.api.patchTrace(id, patch)).status).toBe(202);
      confirmed.push(payload);
    }
    const unconfirmed = [await take(), await take(), await take(), await take(), await take()];
    await first.kill();

    const second = await startProcess({ ...options, stateDir });
    for (const { id, token } of confirmed) {
      const bytes = sent.get(id) as Buffer;
      // The runner does not know what arrived.
      const patched = await second.api.patchTrace(id, { token, offset: 10_000, bytes: bytes.subarray(10_000) });
      expect(patched).toMatchObject({ status: 202, stored: 50_000 });
      const update = { token, state: "success", info: runnerInfo() };
      expect((await second.api.updateJob(id, update)).status).toBe(200);
      expect((await traceOf(second, id)).equals(bytes)).toBe(true);
    }
    const ended = new Set(confirmed.map(({ id }) => id));
    while (ended.size < 12) {
      const payload = await takeJob(second, runner);
      if (payload === undefined) continue;
      const { id, token } = payload;
      expect(ended.has(id)).toBe(false);
      expect((await second.api.updateJob(id, { token, state: "success", info: runnerInfo() })).status).toBe(200);
      ended.add(id);
    }
    // Those who had the jobs first learn that they do not count.
    for (const { id, token } of unconfirmed)
      expect(await second.api.updateJob(id, { token, state: "success", info: runnerInfo() })).toMatchObject({
        status: 403,
      });
    const { body } = await second.admin<readonly { readonly state: string }[]>("GET", "/jobs?limit=100");
    expect(body.map(({ state }) => state)).toEqual(Array.from({ length: 12 }, () => "success"));
  });

  test("answers runners that wait when it is told to end, and leaves by itself", async () => {
    const options = database.options();
    const pod = await startProcess({ ...options, stateDir: await emptyState(options.databaseUrl), pollHoldMs: 60_000 });
    const { token } = await pod.createRunner();
    const waiting = pod.api.requestJob({ token, system_id: "s_abcdefghijkl", info: runnerInfo() });
    await until(async () => (await (await fetch(`${pod.url}/metrics`)).text()).includes("pod_held_requests 1"));
    await pod.terminate();
    expect(await waiting).toMatchObject({ status: 204 });
  });
});

test("a state directory is that of one process, until the process is gone", async () => {
  const stateDir = await emptyState();
  const first = await startProcess({ stateDir });
  await expect(startProcess({ stateDir })).rejects.toThrow("The pod ended with 1");
  await first.kill();
  const second = await startProcess({ stateDir });
  expect((await second.admin("GET", "/runners")).status).toBe(200);
});

test("an embedded database whose making was cut off is made anew", async () => {
  const stateDir = tempDir("pod-begun-");
  const folder = join(stateDir, "database");
  mkdirSync(join(folder, "begun-1", "data"), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "begun-1", "data", "PG_VERSION"), "");
  const pod = await startProcess({ stateDir });
  expect((await pod.admin("GET", "/runners")).status).toBe(200);
  expect(readdirSync(folder).toSorted()).toEqual(["data", "pod.lock"]);
});

test("a pod that is killed while its database is unpacked has a whole one at its next start", async () => {
  for (const ms of [0, 50, 150]) {
    const stateDir = tempDir("pod-unpacked-");
    const folder = join(stateDir, "database");
    const cut = spawnPod({ stateDir });
    await until(() => Promise.resolve(existsSync(folder) && readdirSync(folder).some((name) => name !== "pod.lock")));
    await sleep(ms);
    await endPod(cut, "SIGKILL");
    const pod = await startProcess({ stateDir });
    expect((await pod.admin("GET", "/runners")).status).toBe(200);
    expect(readdirSync(folder).toSorted()).toEqual(["data", "pod.lock"]);
  }
});

test("an archive of a database that is damaged is passed over, and the database made anew", async () => {
  const folder = tempDir("pod-damaged-");
  const archive = findArchive();
  if (archive === undefined) throw new Error("The build has made no archive: node scripts/setup.mjs");
  const damaged = join(folder, "damaged.br");
  writeFileSync(damaged, readFileSync(archive).subarray(0, 1_000_000));
  await makeData(folder, join(folder, "data"), damaged);
  expect(readdirSync(folder).toSorted()).toEqual(["damaged.br", "data"]);
  const unpacked = tempDir("pod-unpacked-");
  await makeData(unpacked, join(unpacked, "data"), archive);
  const filesOf = (root: string): readonly string[] =>
    readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted();
  expect(filesOf(join(unpacked, "data"))).toEqual(filesOf(join(folder, "data")));
});

test("the token of one pod is worth as little at another as garbage, and the database of one is refused by another", async () => {
  const [one, other] = await Promise.all([emptyState(), emptyState()]);
  const a = await startProcess({ stateDir: one });
  const b = await startProcess({ stateDir: other });
  const [runnerA, runnerB] = await Promise.all([a.createRunner(), b.createRunner()]);
  const pipelines = await Promise.all([a.createPipeline({}), b.createPipeline({})]);
  // Both are pod 1 here, so that nothing but the keys tells them apart.
  expect(pipelines.map(({ jobs }) => jobs[0]?.id)).toEqual([1, 1]);
  const jobA = (await takeJob(a, runnerA.token)) as JobPayload;
  const jobB = (await takeJob(b, runnerB.token)) as JobPayload;
  const update = { state: "success", info: runnerInfo() };
  const answerTo = async (token: string): Promise<readonly unknown[]> => {
    const reply = await fetch(`${b.url}/api/v4/jobs/1`, { method: "PUT", body: JSON.stringify({ ...update, token }) });
    return [reply.status, reply.headers.get("job-status"), await reply.text()];
  };
  const foreign = await answerTo(jobA.token);
  expect(foreign).toEqual(await answerTo(`${jobA.token.slice(0, -8)}AAAAAAAA`));
  expect(foreign.slice(0, 2)).toEqual([403, "failed"]);
  expect((await b.api.requestJob({ token: runnerA.token, info: runnerInfo() })).status).toBe(403);
  expect((await callAdmin(b.url, a.adminToken, "GET", "/jobs")).status).toBe(401);
  expect((await b.api.updateJob(1, { ...update, token: jobB.token })).status).toBe(200);
  await a.kill();
  await expect(startProcess({ stateDir: one, pod: 2 })).rejects.toThrow("The pod ended with 1");
});

describe.skipIf(!hasPostgres)("several processes with one PostgreSQL", () => {
  const database = useDatabase("PostgreSQL");

  test("a job that one creates goes to a runner that waits at another, also when nobody hears the hint", async () => {
    const options = { ...database.options(), pollHoldMs: 30_000 };
    const a = await startProcess({ ...options, stateDir: tempDir() });
    const b = await startProcess({ ...options, stateDir: tempDir() });
    const { token: runner } = await a.createRunner();
    const take = async (): Promise<JobPayload> => {
      const waiting = takeJob(b, runner);
      await until(async () => (await (await fetch(`${b.url}/metrics`)).text()).includes("pod_held_requests 1"));
      await a.createPipeline({});
      return (await waiting) as JobPayload;
    };
    const { id, token } = await take();
    // Any process takes what a runner has to say.
    expect((await a.api.updateJob(id, { token, state: "success", info: runnerInfo() })).status).toBe(200);
    const client = new Client(options.databaseUrl);
    await client.connect();
    await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
    await client.end();
    expect((await take()).id).toBe(id + 1);
  });

  test("traces that arrive at two processes in turn are whole", async () => {
    const options = database.options();
    const a = await startProcess({ ...options, stateDir: tempDir() });
    const b = await startProcess({ ...options, stateDir: tempDir() });
    const { token: runner } = await a.createRunner();
    await a.createPipeline({});
    const { id, token } = (await takeJob(a, runner)) as JobPayload;
    const bytes = randomBytes(100_000);
    for (let offset = 0, turn = 0; offset < bytes.length; turn++) {
      const { api } = turn % 2 === 0 ? a : b;
      const part = bytes.subarray(offset, offset + 7_000);
      // The same patch at both at once: one of them stores it.
      const answers = await Promise.all(
        [a.api, b.api, api].map(async (one) => await one.patchTrace(id, { token, offset, bytes: part })),
      );
      for (const answer of answers) expect(answer).toMatchObject({ status: 202, stored: offset + part.length });
      offset += part.length;
    }
    expect((await traceOf(b, id)).equals(bytes)).toBe(true);
  });

  test("a database that is away is no fault of the runner: 503, and then it goes on", async () => {
    const options = database.options();
    const pod = await startProcess({ ...options, stateDir: tempDir(), pollHoldMs: 60_000 });
    const { token } = await pod.createRunner();
    const waiting = connectRunnerApi({ url: pod.url, userAgent: "test" }).requestJob({ token, info: runnerInfo() });
    await until(async () => (await (await fetch(`${pod.url}/metrics`)).text()).includes("pod_held_requests 1"));
    await database.server().kill();
    const body = JSON.stringify({ token, info: {} });
    const reply = await fetch(`${pod.url}/api/v4/jobs/request`, { method: "POST", body });
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "2"]);
    expect((await fetch(`${pod.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${pod.url}/healthz`)).status).toBe(200);
    await database.server().start();
    await until(async () => (await fetch(`${pod.url}/readyz`)).status === 200);
    await pod.createPipeline({});
    // The request that waited through all of it gets the job.
    expect((await waiting).status).toBe(201);
  });
});
