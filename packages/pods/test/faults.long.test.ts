import { request } from "node:http";
import { connect } from "node:net";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { JobPayload } from "@steps/runner-api/job";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseKinds, useDatabase } from "./databases.ts";
import { metric, runnerInfo, startPod, takeJob, type TestPod, until } from "./pod-harness.ts";

describe.each(databaseKinds)("what may go wrong around a pod with %s", (kind) => {
  const database = useDatabase(kind);
  let pod: TestPod;
  /** One that waits for nobody for long. What is not about that has a pod that does, since this machine may be slow. */
  let hasty: TestPod;
  const runnerTokens = new Map<TestPod, string>();

  beforeAll(async () => {
    pod = await startPod(database.options());
    hasty = await startPod({ ...database.options(), leaseSeconds: 2, silenceSeconds: 4 });
    for (const one of [pod, hasty]) runnerTokens.set(one, (await one.createRunner()).token);
  });

  afterAll(async () => {
    await pod.stop();
    await hasty.stop();
  });

  const nextJob = async (of = pod): Promise<JobPayload> =>
    await until(async () => await takeJob(of, runnerTokens.get(of) ?? ""));

  async function end({ id, token }: JobPayload, of = pod): Promise<void> {
    expect(await of.api.updateJob(id, { token, state: "success", info: runnerInfo() })).toMatchObject({ status: 200 });
  }

  async function upload(id: number, token: string, bytes: string, query = "", of = pod): Promise<number> {
    const form = new FormData();
    form.set("file", new Blob([bytes]), "artifacts.zip");
    const reply = await fetch(`${of.url}/api/v4/jobs/${id}/artifacts?${query}`, {
      method: "POST",
      headers: { "job-token": token },
      body: form,
    });
    return reply.status;
  }

  test("an answer that is lost costs a lease: the job goes to another runner, and the first may do nothing any more", async () => {
    const before = await metric(hasty, "attempts_superseded_total");
    await hasty.createPipeline({});
    const lost = await nextJob(hasty);
    const second = await nextJob(hasty);
    expect(second.id).toBe(lost.id);
    expect(second.token).not.toBe(lost.token);
    await hasty.api.patchTrace(second.id, { token: second.token, offset: 0, bytes: Buffer.from("second\n") });
    const { id, token } = lost;
    const stopped = { status: 403, jobStatus: "canceled" };
    expect(await hasty.api.updateJob(id, { token, state: "running", info: runnerInfo() })).toMatchObject(stopped);
    expect(await hasty.api.updateJob(id, { token, state: "success", info: runnerInfo() })).toMatchObject(stopped);
    expect(await hasty.api.patchTrace(id, { token, offset: 0, bytes: Buffer.from("first\n") })).toMatchObject(stopped);
    expect(await upload(id, token, "first", "", hasty)).toBe(403);
    expect(await metric(hasty, "attempts_superseded_total")).toBe(before + 4);
    await end(second, hasty);
    expect(await hasty.job(id)).toMatchObject({ state: "success", attempt: 2, trace_size: 7, artifacts: [] });
  });

  test("a job that nobody ever confirms fails after three offers", async () => {
    const { jobs } = await hasty.createPipeline({});
    const id = jobs[0]?.id as number;
    const tokens = [await nextJob(hasty), await nextJob(hasty), await nextJob(hasty)].map(({ token }) => token);
    expect(new Set(tokens).size).toBe(3);
    const job = await until(async () => {
      const seen = await hasty.job(id);
      return seen.state === "failed" && seen;
    });
    expect(job).toMatchObject({ failure_reason: "runner_provisioning_timeout", attempt: 3 });
  });

  test("a confirmed job is never given out again: its runner falls silent, and it fails", async () => {
    await hasty.createPipeline({});
    const { id, token } = await nextJob(hasty);
    await hasty.api.updateJob(id, { token, state: "running", info: runnerInfo() });
    const job = await until(async () => {
      const seen = await hasty.job(id);
      return seen.state === "failed" && seen;
    });
    expect(job).toMatchObject({ failure_reason: "stuck_or_timeout_failure", attempt: 1 });
    expect(await hasty.api.updateJob(id, { token, state: "success", info: runnerInfo() })).toMatchObject({
      status: 403,
      jobStatus: "failed",
    });
  });

  test("a runner that leaves while it waits gets nothing, and its job no attempt", async () => {
    const body = JSON.stringify({ token: runnerTokens.get(pod), system_id: "s_gone00000000", info: {} });
    const left = request(`${pod.url}/api/v4/jobs/request`, { method: "POST" });
    left.on("error", () => {});
    left.end(body);
    await until(async () => (await metric(pod, "held_requests")) === 1);
    left.destroy();
    await until(async () => (await metric(pod, "held_requests")) === 0);
    await pod.createPipeline({});
    const payload = await nextJob();
    expect(await pod.job(payload.id)).toMatchObject({ attempt: 1 });
    await end(payload);
  });

  test("a job that cannot be handed out fails, and the queue goes on", async () => {
    const { jobs } = await pod.createPipeline({
      jobs: [
        { name: "poison", stage: "test", payload: { steps: "no list" } },
        { name: "good", stage: "test", payload: {} },
      ],
    });
    const payload = await nextJob();
    expect(payload.job_info.name).toBe("good");
    await end(payload);
    expect(await pod.job(jobs[0]?.id as number)).toMatchObject({
      state: "failed",
      failure_reason: "scheduler_failure",
    });
  });

  test("an upload that is cut leaves nothing behind, and can be made again", async () => {
    await pod.createPipeline({});
    const payload = await nextJob();
    const { id, token } = payload;
    const { hostname, port } = new URL(pod.url);
    const socket = connect(Number(port), hostname);
    const head = `POST /api/v4/jobs/${id}/artifacts HTTP/1.1\r\nHost: x\r\nJOB-TOKEN: ${token}\r\nContent-Type: multipart/form-data; boundary=B\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const part = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\nhalf of it';
    socket.write(`${head}${part.length.toString(16)}\r\n${part}\r\n`);
    const incoming = join(pod.stateDir, "artifacts/incoming");
    await until(async () => readdirSync(incoming).length === 1);
    socket.destroy();
    await until(async () => readdirSync(incoming).length === 0);
    expect((await pod.job(id)).artifacts).toEqual([]);
    expect(await upload(id, token, "all of it")).toBe(201);
    expect((await pod.job(id)).artifacts).toMatchObject([{ type: "archive", size: 9 }]);
    await end(payload);
  });

  test("an artifact of the same type is taken again if it has the same bytes, and refused with others", async () => {
    await pod.createPipeline({});
    const payload = await nextJob();
    const { id, token } = payload;
    expect(await upload(id, token, "one")).toBe(201);
    expect(await upload(id, token, "one")).toBe(201);
    expect(await upload(id, token, "two")).toBe(400);
    expect(await upload(id, token, "A=1\nB=x=y\n", "artifact_type=dotenv&artifact_format=raw")).toBe(201);
    expect(await upload(id, token, "not\nvariables", "artifact_type=other_dotenv&artifact_format=tar")).toBe(400);
    await end(payload);
  });

  test("the jobs behind get archives and variables, by the token of their own", async () => {
    await pod.createPipeline({
      stages: ["build", "test"],
      jobs: [
        { name: "make", stage: "build", payload: {} },
        { name: "use", stage: "test", payload: {} },
      ],
    });
    const make = await nextJob();
    expect(await upload(make.id, make.token, "archive", "expire_in=1%20week")).toBe(201);
    expect(await upload(make.id, make.token, "URL=https://x\n", "artifact_type=dotenv&artifact_format=raw")).toBe(201);
    await end(make);
    const use = await nextJob();
    expect(use.dependencies).toEqual([
      { id: make.id, token: use.token, name: "make", artifacts_file: { filename: "artifacts.zip", size: 7 } },
    ]);
    expect(use.variables).toContainEqual(expect.objectContaining({ key: "URL", value: "https://x" }));
    const get = async (id: number, headers: Record<string, string>): Promise<Response> =>
      await fetch(`${pod.url}/api/v4/jobs/${id}/artifacts`, { headers: { "job-token": use.token, ...headers } });
    expect(await (await get(make.id, {})).text()).toBe("archive");
    const range = await get(make.id, { range: "bytes=2-4" });
    expect([range.status, range.headers.get("content-range"), await range.text()]).toEqual([206, "bytes 2-4/7", "chi"]);
    expect((await get(make.id, { range: "bytes=9-" })).status).toBe(416);
    expect((await get(use.id, {})).status).toBe(404);
    await end(use);
    expect((await get(make.id, {})).status).toBe(403);
  });

  test("an artifact above the limit is refused with 413 while it comes", async () => {
    const small = await startPod({ ...database.options(), artifactLimit: 1000 });
    try {
      const { token: runner } = await small.createRunner();
      await small.createPipeline({});
      const { id, token } = await until(async () => await takeJob(small, runner));
      const form = new FormData();
      form.set("file", new Blob(["x".repeat(2000)]), "a.zip");
      const headers = { "job-token": token };
      const reply = await fetch(`${small.url}/api/v4/jobs/${id}/artifacts`, { method: "POST", headers, body: form });
      expect(reply.status).toBe(413);
      expect(readdirSync(join(small.stateDir, "artifacts/incoming"))).toEqual([]);
    } finally {
      await small.stop();
    }
  });
});
