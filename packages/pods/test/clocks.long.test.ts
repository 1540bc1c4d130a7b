import type { JobPayload } from "@steps/runner-api/job";
import { afterEach, describe, expect, test, vi } from "vitest";
import { databaseKinds, useDatabase } from "./databases.ts";
import { metric, runnerInfo, startPod, takeJob, type TestPod, until } from "./pod-harness.ts";

const SWEEP_MS = 2_000;

async function sweep(pod: TestPod): Promise<void> {
  const before = await metric(pod, "sweeps_total");
  vi.advanceTimersByTime(SWEEP_MS);
  await until(async () => (await metric(pod, "sweeps_total")) > before);
}

describe.each(databaseKinds)("a pod with %s whose clock is set", (kind) => {
  const database = useDatabase(kind);

  afterEach(() => void vi.useRealTimers());

  // The embedded database has the clock of its process; a PostgreSQL has one of its own, which stays as it is.
  test.each([3600, -3600, 86_400])("by %i seconds: jobs, leases, tokens and ids go on", async (seconds) => {
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"], now: Date.now() });
    // The timeout and the silence are over by the clock that is set, and are not in truth.
    const pod = await startPod({ ...database.options(), silenceSeconds: 600, leaseSeconds: 120 });
    const { token: runner } = await pod.createRunner();
    const names = ["running", "confirmed later", "pending"];
    await pod.createPipeline({ jobs: names.map((name) => ({ name, stage: "test", payload: {}, timeout: 300 })) });
    const running = (await takeJob(pod, runner)) as JobPayload;
    const assigned = (await takeJob(pod, runner)) as JobPayload;
    const update = async (payload: JobPayload, state: string) =>
      await pod.api.updateJob(payload.id, { token: payload.token, state, info: runnerInfo() });
    expect((await update(running, "running")).status).toBe(200);
    // The pod has looked at its clock before.
    await sweep(pod);
    vi.setSystemTime(Date.now() + seconds * 1000);
    await sweep(pod);
    await sweep(pod);
    expect(await pod.job(running.id)).toMatchObject({ state: "running", attempt: 1 });
    expect(await pod.job(assigned.id)).toMatchObject({ state: "assigned", attempt: 1 });
    const patch = { token: running.token, offset: 0, bytes: Buffer.from("on\n") };
    expect(await pod.api.patchTrace(running.id, patch)).toMatchObject({ status: 202 });
    for (const payload of [running, assigned]) expect((await update(payload, "success")).status).toBe(200);
    // A token that is made now belongs to a job that is given out now; its id follows the others.
    const next = (await takeJob(pod, runner)) as JobPayload;
    expect(next.id).toBe(assigned.id + 1);
    expect((await update(next, "success")).status).toBe(200);
    expect(await update(running, "running")).toMatchObject({ status: 403, jobStatus: "success" });
    await pod.stop();
  });
});
