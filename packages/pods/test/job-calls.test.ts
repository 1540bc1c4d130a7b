import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseKinds, useDatabase } from "./databases.ts";
import { runnerInfo, startPod, takeJob, type TestPod } from "./pod-harness.ts";

describe.each(databaseKinds)("a pod with %s", (kind) => {
  let pod: TestPod;
  let runnerToken: string;

  const database = useDatabase(kind);

  beforeAll(async () => {
    pod = await startPod(database.options());
    runnerToken = (await pod.createRunner()).token;
  });

  afterAll(async () => await pod.stop());

  /** A job that a runner has confirmed. */
  async function runningJob(features: Readonly<Record<string, boolean>> = {}): Promise<{ id: number; token: string }> {
    await pod.createPipeline({});
    const payload = await takeJob(pod, runnerToken, features);
    if (payload === undefined) throw new Error("There is no job");
    const { id, token } = payload;
    await pod.api.updateJob(id, { token, state: "running", info: runnerInfo(features) });
    return { id, token };
  }

  const outputOf = (text: string): { checksum: string; bytesize: number } => ({
    checksum: `crc32:${crc32(text).toString(16).padStart(8, "0")}`,
    bytesize: Buffer.byteLength(text),
  });

  describe("POST /jobs/request", () => {
    test("gives a job with all that the official runner decodes", async () => {
      await pod.createPipeline({
        project: "top/sub/app",
        jobs: [
          {
            name: "build",
            stage: "test",
            payload: {
              git_info: { repo_url: "https://git.example/app.git", ref: "main", sha: "a".repeat(40) },
              variables: [{ key: "A", value: "1", public: true, masked: false, file: false, raw: false }],
              steps: [{ name: "script", script: ["true"], timeout: 3600, when: "on_success", allow_failure: false }],
            },
          },
        ],
      });
      const payload = await takeJob(pod, runnerToken);
      expect(payload).toMatchObject({
        job_info: { name: "build", stage: "test", project_name: "app", project_full_path: "top/sub/app" },
        runner_info: { timeout: 3600 },
        steps: [{ name: "script", script: ["true"] }],
        dependencies: [],
      });
      expect(payload?.variables.map(({ key }) => key)).toEqual(
        expect.arrayContaining(["A", "CI_JOB_ID", "CI_JOB_TOKEN"]),
      );
      const { host, port } = new URL(pod.url);
      const said = Object.fromEntries((payload?.variables ?? []).map(({ key, value }) => [key, value]));
      expect(said).toMatchObject({
        CI_JOB_NAME: "build",
        CI_JOB_STAGE: "test",
        CI_PROJECT_PATH: "top/sub/app",
        CI_PROJECT_NAMESPACE: "top/sub",
        CI_PROJECT_ROOT_NAMESPACE: "top",
        CI_PROJECT_PATH_SLUG: "top-sub-app",
        CI_SERVER_FQDN: host,
        CI_SERVER_PORT: port,
        CI_SERVER_PROTOCOL: "http",
      });
      expect(payload?.token).toMatch(/^glcbt-/);
      const { id, token } = payload as NonNullable<typeof payload>;
      await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() });
    });

    test("holds the request until a job comes, and answers in the same request", async () => {
      const waiting = takeJob(pod, runnerToken);
      await pod.createPipeline({});
      const payload = await waiting;
      expect(payload).toBeDefined();
      const { id, token } = payload as NonNullable<typeof payload>;
      await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() });
    });

    test("answers 204 with a ticket when nothing comes", async () => {
      const answer = await pod.api.requestJob({ token: runnerToken, system_id: "s_abcdefghijkl", info: runnerInfo() });
      expect(answer).toMatchObject({
        status: 204,
        lastUpdate: expect.stringMatching(/^1\.[0-9a-f]{12}\.\d+$/) as string,
      });
    });

    test.each([
      ["no token of a runner", "glrt-nobody"],
      ["a token of nobody", ""],
    ])("refuses %s with 403", async (_, token) => {
      expect(await pod.api.requestJob({ token, info: runnerInfo() })).toMatchObject({ status: 403 });
    });

    test("refuses a body above 32 KiB with 413, and one that is no JSON with 400", async () => {
      const send = async (body: string): Promise<number> =>
        (await fetch(`${pod.url}/api/v4/jobs/request`, { method: "POST", body })).status;
      expect(await send(JSON.stringify({ token: "x".repeat(40_000) }))).toBe(413);
      expect(await send("{")).toBe(400);
    });
  });

  describe("PATCH /jobs/:id/trace", () => {
    test("stores bytes once, whatever is sent twice, and says where to go on", async () => {
      const { id, token } = await runningJob();
      const patch = async (offset: number, text: string): Promise<unknown> =>
        await pod.api.patchTrace(id, { token, offset, bytes: Buffer.from(text) });
      expect(await patch(0, "hello ")).toMatchObject({ status: 202, stored: 6, jobStatus: "running" });
      // The answer was lost, and the runner has more by now.
      expect(await patch(0, "hello world")).toMatchObject({ status: 202, stored: 11 });
      expect(await patch(0, "hello world")).toMatchObject({ status: 202, stored: 11 });
      expect(await patch(12, "?")).toMatchObject({ status: 416, stored: 11 });
      expect(await patch(6, "WORLD")).toMatchObject({ status: 416, stored: 11 });
      expect(await patch(999_999_999_999_999, "x")).toMatchObject({ status: 416, stored: 11 });
    });

    test.each(["", "bytes 0-4/5", "0", "-5", "5-", "1e3-2", "0-4,6-7"])(
      "refuses the range %j with 400",
      async (range) => {
        const { id, token } = await runningJob();
        const reply = await fetch(`${pod.url}/api/v4/jobs/${id}/trace`, {
          method: "PATCH",
          headers: { "job-token": token, ...(range === "" ? {} : { "content-range": range }) },
          body: "hello",
        });
        expect(reply.status).toBe(400);
        await pod.api.updateJob(id, { token, state: "failed", info: runnerInfo() });
      },
    );

    test("accepts a job whose runner does not know how to confirm it", async () => {
      await pod.createPipeline({});
      const { id, token } = (await takeJob(pod, runnerToken, { two_phase_job_commit: false })) as {
        id: number;
        token: string;
      };
      await pod.api.patchTrace(id, { token, offset: 0, bytes: Buffer.from("x") });
      expect(await pod.job(id)).toMatchObject({ state: "running", trace_size: 1 });
      await pod.api.updateJob(id, { token, state: "failed", info: runnerInfo() });
    });
  });

  describe("PUT /jobs/:id", () => {
    test("takes the end once, and its repetition", async () => {
      const { id, token } = await runningJob();
      await pod.api.patchTrace(id, { token, offset: 0, bytes: Buffer.from("done\n") });
      const end = { token, state: "success", info: runnerInfo(), output: outputOf("done\n") };
      expect(await pod.api.updateJob(id, end)).toMatchObject({ status: 200, jobStatus: "success" });
      expect(await pod.api.updateJob(id, end)).toMatchObject({ status: 200, jobStatus: "success" });
      expect(await pod.api.updateJob(id, { ...end, state: "failed" })).toMatchObject({
        status: 403,
        jobStatus: "success",
      });
      expect(await pod.api.updateJob(id, { ...end, state: "running" })).toMatchObject({
        status: 403,
        jobStatus: "success",
      });
      expect(await pod.api.patchTrace(id, { token, offset: 5, bytes: Buffer.from("x") })).toMatchObject({
        status: 403,
      });
      expect(await pod.job(id)).toMatchObject({ state: "success", trace_size: 5, trace_damaged: false });
    });

    test("asks for the whole trace again when it is not the one that was sent, and accepts it in the end", async () => {
      const { id, token } = await runningJob();
      await pod.api.patchTrace(id, { token, offset: 0, bytes: Buffer.from("halo\n") });
      const end = { token, state: "failed", failure_reason: "script_failure", exit_code: 3, info: runnerInfo() };
      expect(await pod.api.updateJob(id, { ...end, output: outputOf("hello\n") })).toMatchObject({ status: 412 });
      await pod.api.patchTrace(id, { token, offset: 0, bytes: Buffer.from("hello\n") });
      expect(await pod.api.updateJob(id, { ...end, output: outputOf("hello\n") })).toMatchObject({ status: 200 });
      expect(await pod.job(id)).toMatchObject({
        state: "failed",
        failure_reason: "script_failure",
        exit_code: 3,
        trace_size: 6,
        trace_damaged: false,
      });
    });

    test("says of a trace that never arrives whole that it is damaged", async () => {
      const { id, token } = await runningJob();
      const end = { token, state: "success", info: runnerInfo(), output: outputOf("never sent") };
      const statuses = [];
      for (let i = 0; i < 3; i++) statuses.push((await pod.api.updateJob(id, end)).status);
      expect(statuses).toEqual([412, 412, 200]);
      expect(await pod.job(id)).toMatchObject({ state: "success", trace_damaged: true });
    });

    test("answers an update without a state as a question about the token", async () => {
      const { id, token } = await runningJob();
      expect(await pod.api.updateJob(id, { token, info: runnerInfo() })).toMatchObject({ status: 200 });
      await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() });
      expect(await pod.api.updateJob(id, { token, info: runnerInfo() })).toMatchObject({
        status: 403,
        jobStatus: "success",
      });
    });

    test("refuses a state that there is none of", async () => {
      const { id, token } = await runningJob();
      const reply = await fetch(`${pod.url}/api/v4/jobs/${id}`, {
        method: "PUT",
        body: JSON.stringify({ token, state: "done" }),
      });
      expect(reply.status).toBe(400);
      await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() });
    });

    test("takes the whole trace of clients that know no patches", async () => {
      const { id, token } = await runningJob();
      const body = JSON.stringify({ token, state: "success", trace: "all of it\n" });
      expect((await fetch(`${pod.url}/api/v4/jobs/${id}`, { method: "PUT", body })).status).toBe(200);
      expect(await pod.job(id)).toMatchObject({ state: "success", trace_size: 10 });
    });

    test("tells the same to a token of nobody and to one of another job, with Job-Status", async () => {
      const one = await runningJob();
      const other = await runningJob();
      const garbage = await pod.api.updateJob(one.id, { token: "glcbt-x.y.z", state: "running", info: runnerInfo() });
      const unknown = await pod.api.updateJob(999_999, { token: one.token, state: "running", info: runnerInfo() });
      const foreign = await pod.api.updateJob(one.id, { token: other.token, state: "running", info: runnerInfo() });
      for (const answer of [garbage, unknown, foreign])
        expect(answer).toMatchObject({ status: 403, jobStatus: "failed" });
      for (const { id, token } of [one, other])
        await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() });
    });
  });

  describe("canceling", () => {
    test("lets a runner that can end gracefully do so, and ends as canceled whatever it says then", async () => {
      const { id, token } = await runningJob();
      await pod.admin("POST", `/jobs/${id}/cancel`);
      const alive = await pod.api.updateJob(id, { token, state: "running", info: runnerInfo() });
      expect(alive).toMatchObject({ status: 200, jobStatus: "canceling" });
      const patched = await pod.api.patchTrace(id, { token, offset: 0, bytes: Buffer.from("after_script\n") });
      expect(patched).toMatchObject({ status: 202, jobStatus: "canceling" });
      expect(await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() })).toMatchObject({
        status: 200,
      });
      expect(await pod.job(id)).toMatchObject({ state: "canceled", trace_size: 13 });
    });

    test("wants to hear more often of jobs that somebody follows", async () => {
      const { id, token } = await runningJob();
      const alive = async (): Promise<number | undefined> =>
        (await pod.api.updateJob(id, { token, state: "running", info: runnerInfo() })).intervalSeconds;
      expect(await alive()).toBe(10);
      await pod.admin("GET", `/pipelines/${(await pod.job(id)).pipeline_id}`);
      expect(await alive()).toBe(3);
      await pod.api.updateJob(id, { token, state: "success", info: runnerInfo() });
    });

    test("stops a runner that cannot", async () => {
      const { id, token } = await runningJob({ cancel_gracefully: false });
      await pod.admin("POST", `/jobs/${id}/cancel`);
      const stopped = await pod.api.patchTrace(id, { token, offset: 0, bytes: Buffer.from("x") });
      expect(stopped).toMatchObject({ status: 403, jobStatus: "canceled" });
      expect((await pod.admin("POST", `/jobs/${id}/cancel`)).status).toBe(409);
    });

    test("takes a job out of the queue that nobody has", async () => {
      const { id } = (await pod.createPipeline({})).jobs[0] as { id: number };
      await pod.admin("POST", `/jobs/${id}/cancel`);
      expect(await pod.job(id)).toMatchObject({ state: "canceled" });
      expect(await takeJob(pod, runnerToken)).toBeUndefined();
    });
  });
});
