/** A right to take one job. */
export interface Right {
  /** Gives it back; once is enough. */
  release(): void;
}

interface Waiter {
  readonly isFree: () => boolean;
  readonly grant: () => void;
}

/**
 * The rights of all runners of a process to take jobs. A request for a job holds one already, so that there is never a job too
 * many; who waits longest is first, so that no runner keeps the others from asking.
 */
export class Rights {
  readonly #concurrent: number;
  readonly #held = new Map<string, number>();
  #waiters: Waiter[] = [];
  #total = 0;

  /** @param concurrent of all runners together */
  constructor(concurrent: number) {
    this.#concurrent = concurrent;
  }

  /** The rights that are held. */
  get total(): number {
    return this.#total;
  }

  /** Takes a right without asking: for a job that is there already. */
  take(runner: string): Right {
    this.#total += 1;
    this.#held.set(runner, (this.#held.get(runner) ?? 0) + 1);
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#total -= 1;
        this.#held.set(runner, (this.#held.get(runner) ?? 1) - 1);
        this.#serve();
      },
    };
  }

  /** Waits for a right. @param limit of this runner; 0 for none. Rejects with the reason of the signal. */
  async wait(runner: string, limit: number, signal: AbortSignal): Promise<Right> {
    signal.throwIfAborted();
    const isFree = (): boolean =>
      this.#total < this.#concurrent && (limit === 0 || (this.#held.get(runner) ?? 0) < limit);
    const { promise, resolve, reject } = Promise.withResolvers<Right>();
    const waiter: Waiter = { isFree, grant: () => resolve(this.take(runner)) };
    const onAbort = (): void => {
      this.#waiters = this.#waiters.filter((other) => other !== waiter);
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    this.#waiters.push(waiter);
    this.#serve();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiters = this.#waiters.filter((waiter) => waiter !== next);
      next.grant();
    }
  }

  #next(): Waiter | undefined {
    return this.#waiters.find(({ isFree }) => isFree());
  }
}
