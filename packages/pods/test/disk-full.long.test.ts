import { randomBytes } from "node:crypto";
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { JobPayload } from "@steps/runner-api/job";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { databaseKinds, useDatabase } from "./databases.ts";
import { emptyState, runnerInfo, takeJob, until } from "./pod-harness.ts";
import { type PodProcess, startProcess } from "./pod-process.ts";
import { canMount, smallDisk } from "./small-disk.ts";

async function runningJob(pod: PodProcess): Promise<JobPayload> {
  const { token } = await pod.createRunner();
  await pod.createPipeline({});
  const payload = await until(async () => await takeJob(pod, token));
  await pod.api.updateJob(payload.id, { token: payload.token, state: "running", info: runnerInfo() });
  return payload;
}

async function upload(pod: PodProcess, { id, token }: JobPayload, bytes: Buffer): Promise<Response> {
  const form = new FormData();
  form.set("file", new Blob([bytes]), "a.zip");
  const headers = { "job-token": token };
  return await fetch(`${pod.url}/api/v4/jobs/${id}/artifacts`, { method: "POST", headers, body: form });
}

async function patch(pod: PodProcess, { id, token }: JobPayload, start: number, bytes: Buffer): Promise<Response> {
  const headers = { "job-token": token, "content-range": `${start}-${start + bytes.length - 1}` };
  return await fetch(`${pod.url}/api/v4/jobs/${id}/trace`, { method: "PATCH", headers, body: bytes });
}

describe.skipIf(!canMount).each(databaseKinds)("a full disk under a pod with %s", (kind) => {
  const database = useDatabase(kind);

  test("an artifact is put off with 503, nothing of it is kept or served, and it is taken when there is space", async () => {
    const options = database.options();
    const stateDir = await emptyState(options.databaseUrl);
    const disk = smallDisk(join(stateDir, "artifacts"), 600);
    const pod = await startProcess({ ...options, stateDir });
    const job = await runningJob(pod);
    const bytes = randomBytes(400_000);
    disk.fill();
    for (let i = 0; i < 3; i++) {
      const reply = await upload(pod, job, bytes);
      expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "10"]);
    }
    expect(readdirSync(join(stateDir, "artifacts/incoming"))).toEqual([]);
    expect((await pod.job(job.id)).artifacts).toEqual([]);
    const own = { headers: { authorization: `Bearer ${pod.adminToken}` } };
    expect((await fetch(`${pod.url}/api/pod/v1/jobs/${job.id}/artifacts/archive`, own)).status).toBe(404);
    disk.free();
    expect((await upload(pod, job, bytes)).status).toBe(201);
    // Each repetition needs its space for a moment, and gives it back.
    for (let i = 0; i < 3; i++) expect((await upload(pod, job, bytes.subarray(0, 100_000))).status).toBe(400);
    const kept = await fetch(`${pod.url}/api/pod/v1/jobs/${job.id}/artifacts/archive`, own);
    expect(Buffer.from(await kept.arrayBuffer()).equals(bytes)).toBe(true);
    expect(await pod.api.updateJob(job.id, { token: job.token, state: "success", info: runnerInfo() })).toMatchObject({
      status: 200,
    });
  });
});

describe.skipIf(!canMount)("a full disk under a pod with PGlite", () => {
  test("a patch is put off with 503, nothing of it counts, and it is taken when there is space", async () => {
    const stateDir = await emptyState();
    const disk = smallDisk(join(stateDir, "traces"), 600);
    const pod = await startProcess({ stateDir });
    const job = await runningJob(pod);
    const bytes = randomBytes(400_000);
    expect((await patch(pod, job, 0, bytes.subarray(0, 100_000))).status).toBe(202);
    disk.fill();
    for (let i = 0; i < 3; i++) {
      const reply = await patch(pod, job, 100_000, bytes.subarray(100_000));
      expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "10"]);
    }
    expect(await pod.job(job.id)).toMatchObject({ state: "running", trace_size: 100_000 });
    disk.free();
    expect((await patch(pod, job, 100_000, bytes.subarray(100_000))).status).toBe(202);
    const own = { headers: { authorization: `Bearer ${pod.adminToken}` } };
    const trace = await fetch(`${pod.url}/api/pod/v1/jobs/${job.id}/trace`, own);
    expect(Buffer.from(await trace.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test("a database without space answers 503, and what it has confirmed is there when there is space", async () => {
    const template = await emptyState();
    const stateDir = tempDir();
    const disk = smallDisk(stateDir, 120_000);
    cpSync(template, stateDir, { recursive: true });
    const pod = await startProcess({ stateDir });
    const job = await runningJob(pod);
    disk.fill();
    const created: number[] = [];
    for (let i = 0; i < 400; i++) {
      const pipeline = {
        project: "a/b",
        stages: ["test"],
        jobs: [{ name: "x".repeat(200), stage: "test", payload: { pad: "p".repeat(60_000) } }],
      };
      const { status, body } = await pod.admin<{ id: number }>("POST", "/pipelines", pipeline);
      if (status !== 201) {
        expect(status).toBe(503);
        break;
      }
      created.push(body.id);
    }
    expect(created.length).toBeLessThan(400);
    disk.free();
    const seen = await until(async () => {
      const answer = await pod.admin<readonly { id: number }[]>("GET", "/pipelines?limit=1000");
      return answer.status === 200 && answer.body;
    });
    expect(seen.map(({ id }) => id)).toEqual(expect.arrayContaining(created));
    expect(await pod.api.updateJob(job.id, { token: job.token, state: "success", info: runnerInfo() })).toMatchObject({
      status: 200,
    });
  });
});
