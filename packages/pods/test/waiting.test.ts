import { countStatements } from "../src/database/count-statements.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createPipeline } from "../src/pipelines/create-pipeline.ts";
import { openPod, type Pod } from "../src/pod/pod.ts";
import type { Capability } from "../src/queue/capability.ts";
import type { ClaimedJob } from "../src/queue/claim-jobs.ts";
import { pendingJobs } from "../src/queue/job-source.ts";
import { JobQueue, type WaitResult } from "../src/queue/job-queue.ts";
import { createRunner } from "../src/runners/create-runner.ts";
import { databaseKinds, useDatabase } from "./databases.ts";
import { emptyState } from "./pod-harness.ts";

describe.each(databaseKinds)("requests that wait, with %s", (kind) => {
  const database = useDatabase(kind);
  let pod: Pod;
  let queue: JobQueue<ClaimedJob>;
  let runnerId: number;

  beforeAll(async () => {
    const options = database.options();
    pod = await openPod({ ...options, stateDir: await emptyState(options.databaseUrl) });
    runnerId = (await createRunner(pod.database, 1, {})).id;
    queue = new JobQueue(pod.database, 1, pendingJobs(pod.database));
  });

  afterAll(async () => {
    queue.close();
    await pod.close();
  });

  const job = { name: "job", stage: "test", payload: {} };
  const createJob = async (): Promise<number> =>
    await createPipeline(pod.database, { project: "a/b", stages: ["test"], jobs: [job] });

  /** A queue that tells its statements. It has no safety tick, which would look and wake whenever it falls. */
  const countingQueue = (tell: (text: string) => void): JobQueue<ClaimedJob> => {
    const counting = countStatements(pod.database, tell);
    vi.useFakeTimers({ toFake: ["setInterval"] });
    try {
      return new JobQueue(counting, 1, pendingJobs(counting));
    } finally {
      vi.useRealTimers();
    }
  };

  const isClaim = (text: string): boolean => text.includes("FOR UPDATE OF q SKIP LOCKED");

  const capabilityOf = (tags: readonly string[]): Capability => ({
    kind: 1,
    groupId: undefined,
    projectIds: [],
    tags,
    runUntagged: true,
    isProtected: false,
    features: [],
  });

  const waitAs = async (crowd: typeof queue, tag: string, managerId: number): Promise<WaitResult<ClaimedJob>> =>
    await crowd.wait({
      capability: capabilityOf([tag]),
      slot: { runnerId, runnerVersion: 1, managerId, leaseSeconds: 60, cancelsGracefully: true },
      ticket: undefined,
      holdMs: 60_000,
      signal: new AbortController().signal,
    });

  const wait = async (
    managerId: number,
    more: { ticket?: string; holdMs?: number; signal?: AbortSignal } = {},
  ): Promise<WaitResult<ClaimedJob>> =>
    await queue.wait({
      // Two kinds of runners.
      capability: capabilityOf(managerId % 2 === 0 ? ["even"] : []),
      slot: { runnerId, runnerVersion: 1, managerId, leaseSeconds: 60, cancelsGracefully: true },
      ticket: more.ticket,
      holdMs: more.holdMs ?? 60_000,
      signal: more.signal ?? new AbortController().signal,
    });

  test("of a thousand one gets the job, for as many statements as there are kinds of runners", async () => {
    let statements = 0;
    const crowd = countingQueue((text) => void (isClaim(text) && statements++));
    const results: WaitResult<ClaimedJob>[] = [];
    const all = Array.from({ length: 1000 }, async (_, i) => results.push(await waitAs(crowd, `kind ${i % 2}`, i)));
    // The first claims, which find nothing.
    await expect.poll(() => statements).toBeGreaterThanOrEqual(2);
    expect(crowd.waiting).toBe(1000);
    statements = 0;
    await createJob();
    crowd.wake();
    await expect.poll(() => results.length).toBe(1);
    expect(results[0]?.job).toBeDefined();
    expect(crowd.waiting).toBe(999);
    // Each kind asks once more for those that came meanwhile, once for the hint and once for the call; who got the job asks again.
    expect(statements).toBeLessThanOrEqual(7);
    crowd.close();
    await Promise.all(all);
    expect(results.filter((one) => one.job !== undefined)).toHaveLength(1);
  });

  test("a job costs as many statements as there are kinds of runners, whether ten of them wait or a thousand", async () => {
    let counted: string[] = [];
    for (const kinds of [1, 4]) {
      for (const runners of [10, 100, 1000]) {
        const crowd = countingQueue((text) => void counted.push(text));
        const results: WaitResult<ClaimedJob>[] = [];
        counted = [];
        const all = Array.from({ length: runners }, async (_, i) =>
          results.push(await waitAs(crowd, `kind ${i % kinds}`, i)),
        );
        // One claim for the first of a kind, and one for those that came meanwhile.
        await expect.poll(() => counted.filter(isClaim).length).toBeGreaterThanOrEqual(2 * kinds);
        counted = [];
        await createJob();
        crowd.wake();
        await expect.poll(() => results.length).toBe(1);
        await expect.poll(() => counted.length).toBeGreaterThanOrEqual(kinds);
        // The hint of the database and the call may each wake a kind.
        expect(counted.length).toBeLessThanOrEqual(2 * kinds);
        expect(counted.filter((text) => !isClaim(text))).toEqual([]);
        crowd.close();
        await Promise.all(all);
      }
    }
  });

  test("a ticket never hides a job that came before it was given", async () => {
    const before = await wait(1, { holdMs: 100 });
    expect(before.job).toBeUndefined();
    // Nobody says that it is there.
    await createJob();
    // The same process may believe its ticket for the time of a safety tick, and no longer.
    const after = await wait(1, { ticket: before.ticket });
    expect(after.job).toBeDefined();
  });

  test("a ticket of another process, or of none, is no reason to wait", async () => {
    for (const ticket of ["1.000000000000.5", "", "0", "x".repeat(10_000)]) {
      await createJob();
      expect((await wait(1, { ticket })).job).toBeDefined();
    }
  });

  test("one who left while the claim was under way gets nothing, and the job is there for the next at once", async () => {
    await createJob();
    const left = new AbortController();
    const leaving = wait(1, { signal: left.signal });
    left.abort();
    expect((await leaving).job).toBeUndefined();
    const next = await wait(1);
    expect(next.job?.waited_s).toBeDefined();
    const [row] = await pod.database.query<{ offers: number }>("SELECT offers FROM jobs WHERE id = $1", [next.job?.id]);
    expect(row?.offers).toBe(1);
  });

  test("a token that was made before the keys were moved on is good until it expires", async () => {
    const first = pod.keys.active;
    await pod.keys.rotate();
    expect(pod.keys.active.kid).not.toBe(first.kid);
    expect([...pod.keys.verify.keys()]).toContain(first.kid);
  });
});
