import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Capability } from "./capability.ts";
import { JobQueue } from "./job-queue.ts";
import type { JobSource, SlotJob } from "./job-source.ts";

const TAGS = ["arm", "linux"] as const;
const MANY_MS = 60_000;
const TICK_MS = 1_500;

interface ModelJob extends SlotJob {
  readonly id: number;
  readonly tag: string | undefined;
}

/** A request as the one who makes it sees it. */
interface Poll {
  readonly kind: number;
  readonly leave: AbortController;
  answer?: { readonly job: number | undefined } | { readonly error: unknown };
}

const kind = fc.nat(2);
const step = fc.oneof(
  // Nobody hears of some jobs when they come.
  { weight: 4, arbitrary: fc.record({ do: fc.constant("create" as const), tag: fc.nat(2), isTold: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("poll" as const),
      kind,
      ticket: fc.constantFrom("last", "last", "first", "none", "foreign"),
      holdMs: fc.constantFrom(0, 400, MANY_MS, MANY_MS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("leave" as const), who: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.constant({ do: "pass" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "fail" as const }) },
  // The database answers as late as it likes.
  { weight: 6, arbitrary: fc.constant({ do: "answer" as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A queue before a database that is a set, whose answers are late in any order. */
class World {
  readonly #scheduler: fc.Scheduler;
  readonly pending = new Map<number, string | undefined>();
  /** The jobs that must not wait for a tick. */
  readonly due = new Set<number>();
  readonly polls: Poll[] = [];
  readonly #tickets = new Map<number, string[]>();
  readonly #queue: JobQueue<ModelJob>;
  #tell: (text: string) => void = () => {};
  #fails = false;
  jobs = 0;

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
    const source: JobSource<ModelJob> = {
      claim: async ({ tags }, slots) => {
        await scheduler.schedule(Promise.resolve(), "the claim arrives");
        if (this.#fails) {
          this.#fails = false;
          throw new Error("The database is away");
        }
        const fit = [...this.pending].filter(([, tag]) => tag === undefined || tags.includes(tag));
        const taken = fit.slice(0, slots.length).map(([id, tag], slot) => ({ id, tag, slot }));
        for (const { id } of taken) this.pending.delete(id);
        await scheduler.schedule(Promise.resolve(), "its answer arrives");
        return taken;
      },
      release: async ({ id, tag }) => {
        await scheduler.schedule(Promise.resolve(), "a job is put back");
        this.pending.set(id, tag);
        this.#hint();
      },
      hasJobs: async () => await scheduler.schedule(Promise.resolve(this.pending.size > 0), "a look at the queue"),
    };
    this.#queue = new JobQueue({ onHint: (listener) => (this.#tell = listener) }, 1, source);
  }

  async take(one: Step): Promise<void> {
    if (one.do === "create") {
      this.pending.set(++this.jobs, TAGS[one.tag]);
      if (one.isTold) this.#hint();
    } else if (one.do === "poll") this.#poll(one);
    else if (one.do === "leave") this.polls[one.who % Math.max(1, this.polls.length)]?.leave.abort();
    else if (one.do === "pass") vi.advanceTimersByTime(TICK_MS / 3);
    else if (one.do === "fail") this.#fails = true;
    else if (this.#scheduler.count() > 0) await this.#scheduler.waitNext(1);
  }

  #hint(): void {
    for (const id of this.pending.keys()) this.due.add(id);
    this.#tell("queue");
  }

  #poll({ kind: of, ticket, holdMs }: Extract<Step, { do: "poll" }>): void {
    if (holdMs > 0 && ["none", "foreign"].includes(ticket))
      for (const [id, tag] of this.pending) if (fits(of, tag)) this.due.add(id);
    const known = this.#tickets.get(of) ?? [];
    const tickets = { last: known.at(-1), first: known[0], none: undefined, foreign: "1.000000000000.7" };
    const poll: Poll = { kind: of, leave: new AbortController() };
    this.polls.push(poll);
    const slot = { runnerId: of, runnerVersion: 1, managerId: of, leaseSeconds: 60, cancelsGracefully: true };
    const options = { capability: capabilityOf(of), slot, ticket: tickets[ticket as keyof typeof tickets], holdMs };
    this.#queue.wait({ ...options, signal: poll.leave.signal }).then(
      (result) => {
        poll.answer = { job: result.job?.id };
        this.#tickets.set(of, [...known, result.ticket]);
      },
      (error: unknown) => (poll.answer = { error }),
    );
  }

  /** Lets everything happen that is under way. */
  async settle(): Promise<void> {
    do {
      await new Promise(setImmediate);
      await this.#scheduler.waitIdle();
      await new Promise(setImmediate);
    } while (this.#scheduler.count() > 0);
  }

  /** The pairs of a request that waits and a job that it could have. */
  hidden(counts: (id: number) => boolean = () => true): readonly string[] {
    const waiting = this.polls.filter(({ answer, leave }) => answer === undefined && !leave.signal.aborted);
    return waiting.flatMap(({ kind: of }) =>
      [...this.pending].filter(([id, tag]) => counts(id) && fits(of, tag)).map(([id]) => `job ${id}, kind ${of}`),
    );
  }

  given(): readonly number[] {
    const jobs = this.polls.map(({ answer }) => (answer !== undefined && "job" in answer ? answer.job : undefined));
    return jobs.filter((id) => id !== undefined);
  }

  close(): void {
    this.#queue.close();
  }
}

/** The kinds of runners: with one tag, with the other, with both. */
function capabilityOf(of: number): Capability {
  const tags = TAGS.filter((_, at) => of === 2 || of === at);
  return { kind: 1, groupId: undefined, projectIds: [], tags, runUntagged: true, isProtected: false, features: [] };
}

function fits(of: number, tag: string | undefined): boolean {
  return tag === undefined || capabilityOf(of).tags.includes(tag);
}

// The scheduler of fast-check decides when the database answers; the clock is the test's as well.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

test("no ticket and no wait hides a job, whatever comes in between, and each job is given once (I8, I2)", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(step, { minLength: 5, maxLength: 60 }), async (scheduler, steps) => {
      const world = new World(scheduler);
      for (const one of steps) await world.take(one);
      await world.settle();
      // Hints may be lost, and claims may have failed; for either there is the tick.
      vi.advanceTimersByTime(TICK_MS);
      await world.settle();
      expect(world.hidden()).toEqual([]);
      const given = world.given();
      expect(new Set(given).size).toBe(given.length);
      expect(given.length + world.pending.size).toBe(world.jobs);
      expect(given.filter((id) => world.pending.has(id))).toEqual([]);
      world.close();
      await world.settle();
      expect(world.polls.every(({ answer }) => answer !== undefined)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("a job of which the queue was told, or that was there before a request without its ticket, waits for no tick (I8)", async () => {
  const timely = step.filter((one) => one.do !== "fail" && one.do !== "pass");
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(timely, { minLength: 5, maxLength: 60 }), async (scheduler, steps) => {
      const world = new World(scheduler);
      for (const one of steps) await world.take(one);
      await world.settle();
      expect(world.hidden((id) => world.due.has(id))).toEqual([]);
      world.close();
      await world.settle();
    }),
    { numRuns: 300 },
  );
});
