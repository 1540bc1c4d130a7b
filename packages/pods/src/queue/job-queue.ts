import { randomBytes } from "node:crypto";
import { MAX_TIMER_MS } from "@steps/model";
import type { Database } from "../database/database.ts";
import { type Capability, fingerprintOf } from "./capability.ts";
import type { Slot } from "./claim-jobs.ts";
import type { JobSource, SlotJob } from "./job-source.ts";
import { QueueGroup, type Waiter } from "./queue-group.ts";

/** How a request for a job waits. */
export interface WaitOptions {
  readonly capability: Capability;
  readonly slot: Slot;
  /** The ticket of the last answer, if the runner has one. */
  readonly ticket: string | undefined;
  readonly holdMs: number;
  /** Aborted when the one who asked has left. */
  readonly signal: AbortSignal;
}

/** The answer to a request, and the ticket for the next one. */
export interface WaitResult<Job> {
  readonly job: Job | undefined;
  readonly ticket: string;
}

/** The hint that a runner was changed, before its id. */
export const RUNNER_HINT = "runner ";

/** The most jobs that one statement gives out. */
const BATCH = 32;
/** How long hints may be lost before anybody notices. */
const SAFETY_TICK_MS = 1_500;
/** A group without requests is kept for so long, so that tickets of its runners still count. */
const IDLE_GROUP_MS = 180_000;

/**
 * The requests that wait in this process. There is one claim at a time for all requests of the same capability, so that a new job costs
 * as many statements as there are kinds of runners, however many of them wait.
 */
export class JobQueue<Job extends SlotJob> {
  readonly #source: JobSource<Job>;
  /** Tickets of another process, or of an earlier one, have another name here and never hide a job. */
  readonly #name: string;
  readonly #groups = new Map<string, QueueGroup<Job>>();
  readonly #tick: NodeJS.Timeout;
  readonly #waitingOf = new Map<number, number>();
  #waiting = 0;
  #version = 0;
  #isClosed = false;

  /** The database gives the hints. */
  constructor(database: Pick<Database, "onHint">, pod: number, source: JobSource<Job>) {
    this.#source = source;
    this.#name = `${pod}.${randomBytes(6).toString("hex")}`;
    database.onHint((text) => {
      if (text === "queue") this.wake();
      else if (text.startsWith(RUNNER_HINT)) this.#dismiss(Number(text.slice(RUNNER_HINT.length)));
    });
    this.#tick = setInterval(() => void this.#tickSafely(), SAFETY_TICK_MS).unref();
  }

  /** The number of requests that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The number of requests of one machine that wait. */
  waitingOf(managerId: number): number {
    return this.#waitingOf.get(managerId) ?? 0;
  }

  /** Waits for a job, at most as long as the request is held. @throws what a claim threw */
  async wait({ capability, slot, ticket, holdMs, signal }: WaitOptions): Promise<WaitResult<Job>> {
    const group = this.#groupOf(capability);
    if (this.#isClosed || holdMs <= 0) return await this.#ask(group, slot, signal);
    if (ticket !== this.#ticketOf(group.version) || group.settled !== group.version) group.isDirty = true;
    const job = await this.#hold(group, slot, holdMs, signal);
    return { job, ticket: this.#ticketOf(group.settled) };
  }

  /** Says that there may be new jobs. */
  wake(): void {
    this.#version++;
    for (const group of this.#groups.values()) {
      group.version = this.#version;
      group.isDirty = true;
      void this.#serve(group);
    }
  }

  /** Answers all who wait, without a job and with their old tickets. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#tick);
    for (const group of this.#groups.values()) for (const waiter of group.waiters) this.#end(group, waiter);
  }

  /** Answers the requests of a runner that was changed, so that it asks again as what it is now. */
  #dismiss(runnerId: number): void {
    for (const group of this.#groups.values())
      for (const waiter of group.waiters) if (waiter.slot.runnerId === runnerId) this.#end(group, waiter);
  }

  #groupOf(capability: Capability): QueueGroup<Job> {
    const key = fingerprintOf(capability);
    const known = this.#groups.get(key);
    const group = known ?? new QueueGroup<Job>(capability, ++this.#version);
    if (known === undefined) this.#groups.set(key, group);
    group.lastUsed = performance.now();
    return group;
  }

  #ticketOf(version: number): string {
    return `${this.#name}.${version}`;
  }

  /** One claim for a request that is not held. */
  async #ask(group: QueueGroup<Job>, slot: Slot, signal: AbortSignal): Promise<WaitResult<Job>> {
    const ticket = this.#ticketOf(group.version);
    if (this.#isClosed) return { job: undefined, ticket };
    const [job] = await this.#source.claim(group.capability, [slot]);
    if (job === undefined || !signal.aborted) return { job, ticket };
    await this.release(job);
    return { job: undefined, ticket };
  }

  async #hold(group: QueueGroup<Job>, slot: Slot, holdMs: number, signal: AbortSignal): Promise<Job | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Job | undefined>();
    const waiter: Waiter<Job> = {
      slot,
      isThere: () => !signal.aborted,
      isOver: false,
      settle: (outcome) => ("job" in outcome ? resolve(outcome.job) : reject(outcome.error)),
    };
    const end = (): void => this.#end(group, waiter);
    group.waiters.add(waiter);
    this.#count(slot, 1);
    signal.addEventListener("abort", end);
    const timer = setTimeout(end, Math.min(holdMs, MAX_TIMER_MS));
    void this.#serve(group);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      group.waiters.delete(waiter);
      group.lastUsed = performance.now();
      this.#count(slot, -1);
    }
  }

  #count({ managerId }: Slot, change: number): void {
    const count = this.waitingOf(managerId) + change;
    this.#waiting += change;
    if (count === 0) this.#waitingOf.delete(managerId);
    else this.#waitingOf.set(managerId, count);
  }

  #end(group: QueueGroup<Job>, waiter: Waiter<Job>): void {
    // A claim may have a job for it already: then the job is what it gets.
    if (group.claiming.has(waiter)) waiter.isOver = true;
    else group.drop(waiter);
  }

  async #serve(group: QueueGroup<Job>): Promise<void> {
    if (group.isServed) return;
    group.isServed = true;
    while (group.isDirty && group.waiters.size > 0) await this.#claim(group);
    group.isServed = false;
  }

  async #claim(group: QueueGroup<Job>): Promise<void> {
    group.isDirty = false;
    const { version } = group;
    const waiters = group.take(BATCH);
    try {
      const jobs = await this.#source.claim(
        group.capability,
        waiters.map(({ slot }) => slot),
      );
      for (const job of jobs) this.#give(group, waiters[job.slot] as Waiter<Job>, job);
      if (jobs.length === waiters.length) group.isDirty = true;
      else group.settled = version;
    } catch (error) {
      for (const waiter of group.waiters) waiter.settle({ error });
      group.waiters.clear();
    }
    group.finishClaim();
  }

  #give(group: QueueGroup<Job>, waiter: Waiter<Job>, job: Job): void {
    group.waiters.delete(waiter);
    if (waiter.isThere()) return waiter.settle({ job });
    waiter.settle({ job: undefined });
    // The lease would do it too, later.
    this.release(job).catch(() => {});
  }

  /** Puts a job back that could not be handed over. */
  async release(job: Job): Promise<void> {
    await this.#source.release(job);
  }

  async #tickSafely(): Promise<void> {
    for (const [key, group] of this.#groups)
      if (group.waiters.size === 0 && performance.now() - group.lastUsed > IDLE_GROUP_MS) this.#groups.delete(key);
    if (this.#waiting === 0) return;
    try {
      if (await this.#source.hasJobs()) this.wake();
    } catch {
      // The next request that claims tells its caller about the database.
    }
  }
}
