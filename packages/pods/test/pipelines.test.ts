import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JobPayload } from "@steps/runner-api/job";
import { databaseKinds, useDatabase } from "./databases.ts";
import { runnerInfo, startPod, takeJob, type TestPod, until } from "./pod-harness.ts";

describe.each(databaseKinds)("pipelines of a pod with %s", (kind) => {
  const database = useDatabase(kind);
  let pod: TestPod;
  let runnerToken: string;

  beforeAll(async () => {
    pod = await startPod(database.options());
    runnerToken = (await pod.createRunner()).token;
  });

  afterAll(async () => await pod.stop());

  const nextJob = async (): Promise<JobPayload> => await until(async () => await takeJob(pod, runnerToken));
  const job = (name: string, rest: object = {}) => ({ name, stage: "test", payload: {}, ...rest });

  async function end({ id, token }: JobPayload, state: string, exitCode?: number): Promise<number> {
    const update = { token, state, exit_code: exitCode, info: runnerInfo() };
    return (await pod.api.updateJob(id, update)).status;
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
    const form = new FormData();
    form.set("file", new Blob(["bytes"]), "artifacts.zip");
    const headers = { "job-token": given.token };
    const url = `${pod.url}/api/v4/jobs/${given.id}/artifacts`;
    expect((await pod.job(given.id)).state).toBe("assigned");
    expect((await fetch(url, { method: "POST", headers, body: form })).status).toBe(201);
    expect((await pod.job(given.id)).state).toBe("running");
    expect(await end(given, "success")).toBe(200);
  });
});
