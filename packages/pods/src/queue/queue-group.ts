import type { Capability } from "./capability.ts";
import type { Slot } from "./claim-jobs.ts";

/** A request that waits for a job. */
export interface Waiter<Job> {
  readonly slot: Slot;
  /** Whether the one who asked is still there. */
  readonly isThere: () => boolean;
  readonly settle: (outcome: { readonly job: Job | undefined } | { readonly error: unknown }) => void;
  /** The time of the request is over; it is answered as soon as no claim is under way for it. */
  isOver: boolean;
}

/** The requests of runners with one capability, in the order in which they came. */
export class QueueGroup<Job> {
  readonly capability: Capability;
  readonly waiters: Set<Waiter<Job>> = new Set();
  /** Those for which a claim is under way. */
  readonly claiming: Set<Waiter<Job>> = new Set();
  /** Grows when there may be new jobs. */
  version: number;
  /** The version that was current before a claim found nothing more: all jobs up to it are known to be taken. */
  settled = 0;
  /** Jobs may have come since the last claim. */
  isDirty = false;
  isServed = false;
  lastUsed: number = performance.now();

  constructor(capability: Capability, version: number) {
    this.capability = capability;
    this.version = version;
  }

  /** Takes the first waiters for a claim; those who have left are forgotten. */
  take(count: number): Waiter<Job>[] {
    for (const waiter of this.waiters) {
      if (this.claiming.size === count) break;
      if (waiter.isThere()) this.claiming.add(waiter);
      else this.drop(waiter);
    }
    return [...this.claiming];
  }

  /** Answers a waiter that has no job. */
  drop(waiter: Waiter<Job>): void {
    this.waiters.delete(waiter);
    waiter.settle({ job: undefined });
  }

  /** Ends the claim that was under way: those whose time was over meanwhile are answered. */
  finishClaim(): void {
    for (const waiter of this.claiming) if (waiter.isOver) this.drop(waiter);
    this.claiming.clear();
  }
}
