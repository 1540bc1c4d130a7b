import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JobPayload } from "@steps/runner-api/job";
import { databaseKinds, useDatabase } from "./databases.ts";
import { runnerInfo, startPod, takeJob, type TestPod, until } from "./pod-harness.ts";

describe.each(databaseKinds)("pipelines of a pod with %s", (kind) => {
  const database = useDatabase(kind);
  let pod: TestPod;
  let runnerToken: string;

  beforeAll(async () => {
    pod = await startPod({ ...database.options(), leaseSeconds: 3600 });
    runnerToken = (await pod.createRunner()).token;
  });

  afterAll(async () => await pod.stop());

  const nextJob = async (): Promise<JobPayload> => await until(async () => await takeJob(pod, runnerToken));
  const job = (name: string, rest: object = {}) => ({ name, stage: "test", payload: {}, ...rest });

  async function end({ id, token }: JobPayload, state: string, exitCode?: number): Promise<number> {
    const update = { token, state, exit_code: exitCode, info: runnerInfo() };
    return (await pod.api.updateJob(id, update)).status;
  }

  async function upload({ id, token }: JobPayload, bytes: string, query = ""): Promise<number> {
    const form = new FormData();
    form.set("file", new Blob([bytes]), "artifacts.zip");
    const url = `${pod.url}/api/v4/jobs/${id}/artifacts?${query}`;
    return (await fetch(url, { method: "POST", headers: { "job-token": token }, body: form })).status;
  }

  async function statesOf(pipeline: number): Promise<Readonly<Record<string, string>>> {
    const { body } = await pod.admin<{ jobs: { name: string; state: string; retried: boolean }[] }>(
      "GET",
      `/pipelines/${pipeline}`,
    );
    return Object.fromEntries(body.jobs.filter(({ retried }) => !retried).map(({ name, state }) => [name, state]));
  }

  test("a retry lets all jobs run that wait for the job, those by way of others too", async () => {
    const { id } = await pod.createPipeline({
      jobs: [job("build", { needs: [] }), job("test", { needs: ["build"] }), job("deploy", { needs: ["test"] })],
    });
    const first = await nextJob();
    expect(await end(first, "failed")).toBe(200);
    expect(await statesOf(id)).toEqual({ build: "failed", test: "skipped", deploy: "skipped" });
    expect((await pod.admin("POST", `/jobs/${first.id}/retry`)).status).toBe(201);
    expect(await statesOf(id)).toEqual({ build: "pending", test: "created", deploy: "created" });
    for (const name of ["build", "test", "deploy"]) {
      const next = await nextJob();
      expect(next.job_info.name).toBe(name);
      expect(await end(next, "success")).toBe(200);
    }
  });

  test("a job ends with any exit code: those of Windows are of 32 bits without a sign", async () => {
    const accessViolation = 3_221_225_477;
    const { id } = await pod.createPipeline({
      jobs: [job("crash", { allow_failure: { exit_codes: [accessViolation] } })],
    });
    const crash = await nextJob();
    expect(await end(crash, "failed", accessViolation)).toBe(200);
    expect(await pod.job(crash.id)).toMatchObject({ state: "failed", exit_code: accessViolation - 2 ** 32 });
    expect((await pod.admin<{ state: string }>("GET", `/pipelines/${id}`)).body.state).toBe("success");
  });

  test("an upload confirms its job, which then goes to no other runner that would have its files, too", async () => {
    await pod.createPipeline({});
    const given = await nextJob();
    expect((await pod.job(given.id)).state).toBe("assigned");
    expect(await upload(given, "bytes")).toBe(201);
    expect((await pod.job(given.id)).state).toBe("running");
    expect(await end(given, "success")).toBe(200);
  });

  test("a job gets the artifacts of a hundred jobs by a short token, and of no other job", async () => {
    const makers = Array.from({ length: 101 }, (_, i) => job(`make ${i}`, { stage: "make" }));
    await pod.createPipeline({ stages: ["make", "test"], jobs: [...makers, job("use")] });
    for (const _ of makers) {
      const maker = await nextJob();
      expect(await upload(maker, maker.job_info.name)).toBe(201);
      expect(await end(maker, "success")).toBe(200);
    }
    const use = await nextJob();
    await pod.createPipeline({ project: "another/project" });
    const foreign = await nextJob();
    expect(await upload(foreign, "foreign")).toBe(201);
    expect(use.dependencies).toHaveLength(makers.length);
    expect(use.token.length).toBeLessThan(1024);
    const get = async (id: number): Promise<Response> =>
      await fetch(`${pod.url}/api/v4/jobs/${id}/artifacts`, { headers: { "job-token": use.token } });
    const got = await Promise.all(use.dependencies.map(async ({ id }) => await (await get(id)).text()));
    expect(got).toEqual(use.dependencies.map(({ name }) => name));
    expect((await get(foreign.id)).status).toBe(403);
    expect(await end(foreign, "success")).toBe(200);
    expect(await end(use, "success")).toBe(200);
    expect((await get(use.dependencies[0]?.id as number)).status).toBe(403);
  });

  test("a job has a hundred artifacts of different types, and not one more", async () => {
    await pod.createPipeline({});
    const given = await nextJob();
    const statuses = new Map<number, number>();
    for (let i = 0; i < 101; i++) {
      const status = await upload(given, "bytes", `artifact_type=type_${i}`);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 201: 100, 400: 1 });
    expect((await pod.job(given.id)).artifacts).toHaveLength(100);
    expect(await end(given, "success")).toBe(200);
  });

  test("a job whose tags no queue could hold is refused before it is anybody's turn", async () => {
    // No two letters alike in a row: nothing is gained by packing them.
    const tags = Array.from({ length: 50 }, (_, i) => createHash("sha512").update(`${i}`).digest("hex").slice(0, 100));
    const jobs = [job("first", { stage: "first" }), job("second", { tags })];
    const request = { project: "group/project", stages: ["first", "test"], jobs };
    const refused = await pod.admin<{ message: string }>("POST", "/pipelines", request);
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining("tags") as string } });

    const longest = tags.slice(0, 22);
    await pod.createPipeline({
      ...request,
      jobs: [job("first", { stage: "first" }), job("second", { tags: longest })],
    });
    expect(await end(await nextJob(), "success")).toBe(200);
    const { token } = await pod.createRunner({ tags: longest });
    expect(await end(await until(async () => await takeJob(pod, token)), "success")).toBe(200);
  });
});
