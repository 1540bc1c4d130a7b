import { crc32 } from "node:zlib";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findJob, isFinal, isInHand, type Job } from "../src/jobs/job.ts";
import { acceptJob } from "../src/jobs/accept-job.ts";
import { cancelJob } from "../src/lifecycle/cancel.ts";
import { updateJob } from "../src/lifecycle/update-job.ts";
import { createPipeline } from "../src/pipelines/create-pipeline.ts";
import { openPod, type Pod } from "../src/pod/pod.ts";
import type { Capability } from "../src/queue/capability.ts";
import { claimJobs } from "../src/queue/claim-jobs.ts";
import { releaseJob } from "../src/queue/enqueue-jobs.ts";
import { createRunner } from "../src/runners/create-runner.ts";
import { Sweeper } from "../src/sweep/sweeper.ts";
import { appendTrace } from "../src/traces/append-trace.ts";
import { databaseKinds, useDatabase } from "./databases.ts";
import { emptyState, runnerInfo } from "./pod-harness.ts";

const TAGS = ["linux", "arm"];
const PROJECTS = ["a/one", "a/two", "b/three"];
const WORDS = ["hello ", "world\n", "\u0000\u00ff", "x".repeat(300)];

/** The test's memory of one attempt, as its runner would have it. */
interface Attempt {
  readonly id: number;
  readonly attempt: number;
  /** The part of the trace that the pod took, when it took any. */
  trace: Buffer;
  isAccepted: boolean;
  resets: number;
}

function rowOf({ attempt, trace, resets }: Attempt): Partial<Job> {
  return { attempt, state: "running", trace_size: trace.length, trace_crc: crc32(trace), trace_resets: resets };
}

const index = fc.nat(1000);
const rarely = fc.constantFrom(false, false, false, true);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      project: fc.nat(2),
      tag: fc.nat(2),
      guard: rarely,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      tags: fc.constantFrom(0, 1, 2, 3, 3),
      guard: rarely,
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("accept" as const), who: index }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("append" as const), who: index, word: fc.nat(3), back: fc.nat(8) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("end" as const), who: index, isGood: fc.boolean(), isRight: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("expire" as const), who: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release" as const), who: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), who: index }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Something to do for those that follow. */
const BEGINNING: readonly Step[] = [
  { do: "create", project: 0, tag: 2, guard: false },
  { do: "create", project: 1, tag: 2, guard: false },
  { do: "claim", tags: 3, guard: false, count: 1 },
];

describe.each(databaseKinds)("the invariants of a pod with %s", (kind) => {
  const database = useDatabase(kind);
  let pod: Pod;
  let sweeper: Sweeper;
  let runner: { readonly id: number };

  beforeAll(async () => {
    const options = database.options();
    pod = await openPod({ ...options, stateDir: await emptyState(options.databaseUrl) });
    runner = await createRunner(pod.database, 1, {});
    sweeper = new Sweeper(pod);
  });

  afterAll(async () => {
    await sweeper.close();
    await pod.close();
  });

  /** A run of steps from an empty pod, with what all runners would remember. */
  class World {
    readonly attempts: Attempt[] = [];
    /** The jobs that ended, as they were seen then. */
    readonly ended = new Map<number, string>();
    readonly jobs = new Map<
      number,
      { readonly project: string; readonly tags: readonly string[]; readonly protected: boolean }
    >();

    async take(step: Step): Promise<void> {
      switch (step.do) {
        case "create":
          return await this.create(step);
        case "claim":
          return await this.claim(step);
        case "expire":
          return await this.expire(this.pick(step.who));
        case "cancel":
          return await this.cancel(step.who);
        case "accept":
        case "append":
        case "end":
        case "release": {
          const attempt = this.pick(step.who);
          if (attempt !== undefined) await this.act(step, attempt);
        }
      }
    }

    pick(who: number): Attempt | undefined {
      return this.attempts[who % Math.max(1, this.attempts.length)];
    }

    async create({ project, tag, guard }: Extract<Step, { do: "create" }>): Promise<void> {
      const path = PROJECTS[project] as string;
      const tags = tag === 2 ? [] : [TAGS[tag] as string];
      const job = { name: "job", stage: "test", payload: {}, tags, protected: guard };
      const pipeline = await createPipeline(pod.database, { project: path, stages: ["test"], jobs: [job] });
      const [row] = await pod.database.query<{ id: number }>("SELECT id FROM jobs WHERE pipeline_id = $1", [pipeline]);
      this.jobs.set(row?.id as number, { project: path, tags, protected: guard });
    }

    async claim({ tags: bits, guard, count }: Extract<Step, { do: "claim" }>): Promise<void> {
      const tags = TAGS.filter((_, bit) => (bits & (1 << bit)) !== 0);
      const capability: Capability = {
        kind: 1,
        groupId: undefined,
        projectIds: [],
        tags,
        runUntagged: bits !== 1,
        isProtected: guard,
        features: [],
      };
      const slot = { runnerId: runner.id, runnerVersion: 1, managerId: 1, leaseSeconds: 600, cancelsGracefully: true };
      const claimed = await claimJobs(
        pod.database,
        capability,
        Array.from({ length: count }, () => slot),
      );
      for (const { id, attempt } of claimed) {
        const job = this.jobs.get(id);
        // I7: nobody gets what the rules forbid.
        expect(job?.tags.every((tag) => tags.includes(tag))).toBe(true);
        expect(job?.tags.length !== 0 || capability.runUntagged).toBe(true);
        expect(job?.protected === true || !guard).toBe(true);
        // I1: a job that a runner has confirmed is never given to another.
        expect(this.attempts.some((other) => other.id === id && (other.isAccepted || other.attempt >= attempt))).toBe(
          false,
        );
        this.attempts.push({ id, attempt, trace: Buffer.alloc(0), isAccepted: false, resets: 0 });
      }
    }

    async expire(attempt: Attempt | undefined): Promise<void> {
      if (attempt === undefined) return;
      await pod.database.query(
        "UPDATE jobs SET lease_expires_at = now() - interval '1 second' WHERE id = $1 AND lease_expires_at IS NOT NULL",
        [attempt.id],
      );
      await sweeper.sweep();
    }

    async cancel(who: number): Promise<void> {
      const id = [...this.jobs.keys()][who % Math.max(1, this.jobs.size)];
      if (id !== undefined) await pod.database.transaction(async (sql) => await cancelJob(sql, id));
    }

    async act(step: Extract<Step, { who: number }>, attempt: Attempt): Promise<void> {
      const job = (await findJob(pod.database, attempt.id)) as Job;
      const counts = job.attempt === attempt.attempt && isInHand(job.state);
      // A call that was let in before another attempt began still has the row as it was.
      const mine: Job = counts ? job : { ...job, ...rowOf(attempt) };
      if (step.do === "accept") {
        expect((await acceptJob(pod.database, attempt.id, attempt.attempt)) !== undefined).toBe(counts);
        attempt.isAccepted ||= counts;
      } else if (step.do === "release") {
        const isReleased = await pod.database.transaction(
          async (sql) => await releaseJob(sql, attempt.id, attempt.attempt),
        );
        expect(isReleased).toBe(counts && job.state === "assigned");
      } else if (step.do === "append") await this.append(step, attempt, mine, counts);
      else if (step.do === "end") await this.end(step, attempt, mine, counts);
    }

    async append(
      { word, back }: Extract<Step, { do: "append" }>,
      attempt: Attempt,
      mine: Job,
      counts: boolean,
    ): Promise<void> {
      // The runner may repeat what it does not know to have arrived.
      const start = Math.max(0, attempt.trace.length - back);
      const bytes = Buffer.concat([attempt.trace.subarray(start), Buffer.from(WORDS[word] as string)]);
      const answer = await appendTrace(pod.database, pod.traces, mine, { start, bytes });
      // I10: nothing of an attempt that does not count is ever taken.
      expect(answer.status).toBe(counts ? 202 : 403);
      if (!counts) return;
      attempt.isAccepted = true;
      attempt.trace = Buffer.concat([attempt.trace, Buffer.from(WORDS[word] as string)]);
    }

    async end(
      { isGood, isRight }: Extract<Step, { do: "end" }>,
      attempt: Attempt,
      mine: Job,
      counts: boolean,
    ): Promise<void> {
      const output = {
        checksum: `crc32:${crc32(attempt.trace).toString(16).padStart(8, "0")}`,
        bytesize: attempt.trace.length + (isRight ? 0 : 7),
      };
      const state = isGood ? "success" : "failed";
      const { status } = await updateJob(pod.database, mine, { state, output, info: runnerInfo() }, 60);
      if (!counts) {
        const now = (await findJob(pod.database, attempt.id)) as Job;
        // The update that ended the job may be sent again.
        const isRepeated = now.state === state && now.attempt === attempt.attempt;
        expect(status).toBe(isRepeated ? 200 : 403);
      } else if (status === 412) {
        attempt.trace = Buffer.alloc(0);
        attempt.resets++;
      } else {
        expect(status).toBe(200);
        attempt.isAccepted = true;
      }
    }

    /** The invariants that hold after each step. */
    async check(): Promise<void> {
      const jobs = await pod.database.query<Job & { queued: boolean; active: boolean }>(
        `SELECT j.*, EXISTS (SELECT FROM pending_jobs q WHERE q.job_id = j.id) AS queued,
           EXISTS (SELECT FROM active_jobs a WHERE a.job_id = j.id) AS active
         FROM jobs j WHERE j.id = ANY ($1::bigint[]) ORDER BY j.id`,
        [[...this.jobs.keys()]],
      );
      expect(jobs.length).toBe(this.jobs.size);
      for (const job of jobs) {
        // I2: a job is in the queue, or given to somebody, or has ended; I6: those in hand are counted.
        expect(job.queued).toBe(job.state === "pending");
        expect(job.active).toBe(isInHand(job.state));
        const accepted = this.attempts.filter(({ id, isAccepted }) => id === job.id && isAccepted);
        expect(accepted.length).toBeLessThanOrEqual(1);
        // I9: an end stays.
        const before = this.ended.get(job.id);
        if (before !== undefined) expect(job.state).toBe(before);
        if (isFinal(job.state)) this.ended.set(job.id, job.state);
        await this.checkTrace(job, accepted[0]);
      }
    }

    /** I3: the trace is what the runner's calls brought, each byte once. */
    async checkTrace(job: Job, accepted: Attempt | undefined): Promise<void> {
      const wanted = accepted?.trace ?? Buffer.alloc(0);
      expect(job.trace_size).toBe(wanted.length);
      expect(job.trace_crc).toBe(crc32(wanted));
      if (wanted.length > 0) expect((await pod.traces.read(job, 0, job.trace_size)).equals(wanted)).toBe(true);
    }
  }

  test("hold after every step, whatever runners, leases and owners do", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: "max" }), async (steps) => {
        await pod.database.query("DELETE FROM pending_jobs");
        await pod.database.query("DELETE FROM active_jobs");
        await pod.database.query(
          "UPDATE jobs SET state = 'canceled', lease_expires_at = NULL WHERE state NOT IN ('success', 'failed')",
        );
        const world = new World();
        for (const one of [...BEGINNING, ...steps]) {
          await world.take(one);
          await world.check();
        }
      }),
      { numRuns: kind === "PGlite" ? 8 : 40, endOnFailure: true },
    );
  });
});
