import { hasPostgres } from "@steps/testkit/postgres-server";
import { describe, expect, test } from "vitest";
import { openPostgres } from "../src/database/postgres-database.ts";
import { lockJob, type Job } from "../src/jobs/job.ts";
import { finishJob } from "../src/lifecycle/finish-job.ts";
import { useDatabase } from "./databases.ts";
import { startPod, takeJob, until } from "./pod-harness.ts";

describe.skipIf(!hasPostgres)("a pipeline in PostgreSQL", () => {
  const database = useDatabase("PostgreSQL");

  test("that is cancelled while one of its jobs fails has no job that is tried again", async () => {
    const { databaseUrl = "" } = database.options();
    const pod = await startPod({ databaseUrl, leaseSeconds: 3600 });
    const other = await openPostgres(databaseUrl);
    const { token } = await pod.createRunner();
    const { id } = await pod.createPipeline({
      jobs: [{ name: "job", stage: "test", payload: {}, retry: { max: 2 } }],
    });
    const given = await until(async () => await takeJob(pod, token));
    const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    const cancelled = await other.transaction(async (sql) => {
      const job = (await lockJob(sql, given.id)) as Job;
      await finishJob(sql, job, { state: "failed" });
      const cancelling = pod.admin("POST", `/pipelines/${id}/cancel`);
      await until(async () => (await other.query(waits)).length > 0);
      return { cancelling };
    });
    expect((await cancelled.cancelling).status).toBe(200);
    const { body } = await pod.admin<{ jobs: { state: string }[] }>("GET", `/pipelines/${id}`);
    expect(body.jobs.map(({ state }) => state)).toEqual(["failed", "canceled"]);
    expect(await takeJob(pod, token)).toBeUndefined();
    await other.close();
    await pod.stop();
  });
});
