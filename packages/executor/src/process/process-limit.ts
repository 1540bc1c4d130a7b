import { descriptorLimit } from "@steps/platform/processes";

/** The descriptors that a runner has open besides those of steps, and some to spare. */
const OWN_DESCRIPTORS = 48;
/** The reading ends of the output, the log with its index, and a handle of the process that Bun keeps. */
const DESCRIPTORS_EACH = 5;
/** The time after which a start is tried again though no process of ours has ended: somebody else may have made room. */
const RETRY_MS = 1000;

/** The right to have one process. The holder gives it back by disposing of it. */
export interface Permit extends Disposable {
  /**
   * Waits, after the system had no room for the process, until it may be tried again. False: the permit is gone, because this runner
   * has no other process that could make room by its end, or because the signal was aborted. @param onWait called if it has to wait
   */
  renew(signal: AbortSignal, onWait: () => void): Promise<boolean>;
}

interface Waiter {
  readonly grant: () => void;
  isOver: boolean;
}

/**
 * The limit of processes that a runner has at once, with all its runs: as many as it has descriptors for, and no more than the system
 * has lately had room for. Further ones wait. Runs take turns, and the steps of one run are served in the order in which they came.
 *
 * Only processes hold permits, never a step for the steps that it runs: so whoever waits is in nobody's way.
 */
export class ProcessLimit {
  #capacity: number | undefined;
  /** Less than the capacity from when the system refuses a process until nobody waits. */
  #most = Number.POSITIVE_INFINITY;
  #taken = 0;
  #waiting = 0;
  readonly #queues = new Map<object, Waiter[]>();
  #timer: NodeJS.Timeout | undefined;

  /** @param capacity how many processes there may be at once. Default: as many as there are descriptors for */
  constructor(capacity?: number) {
    this.#capacity = capacity;
  }

  /** How many permits are held. */
  get taken(): number {
    return this.#taken;
  }

  /** Gives a permit if there is one. @param run the run whose turn it is */
  tryTake(run: object): Permit | undefined {
    if (this.#isFull()) return undefined;
    this.#taken += 1;
    return this.#permit(run);
  }

  /** Waits for a permit after `tryTake()` gave none. `undefined`: the signal was aborted first. */
  async wait(run: object, signal: AbortSignal): Promise<Permit | undefined> {
    return (await this.#turn(run, signal, "push")) ? this.#permit(run) : undefined;
  }

  #permit(run: object): Permit {
    let isHeld = true;
    return {
      renew: async (signal, onWait) => {
        isHeld = false;
        isHeld = await this.#renew(run, signal, onWait);
        return isHeld;
      },
      [Symbol.dispose]: () => {
        if (isHeld) this.#giveBack();
        isHeld = false;
      },
    };
  }

  async #renew(run: object, signal: AbortSignal, onWait: () => void): Promise<boolean> {
    if (this.#taken === 1 || signal.aborted) {
      this.#giveBack();
      return false;
    }
    this.#taken -= 1;
    this.#most = this.#taken;
    this.#tryLater();
    onWait();
    return this.#turn(run, signal, "unshift");
  }

  #giveBack(): void {
    this.#taken -= 1;
    this.#serve();
  }

  #turn(run: object, signal: AbortSignal, add: "push" | "unshift"): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (isGranted: boolean): void => {
        signal.removeEventListener("abort", leave);
        waiter.isOver = true;
        this.#waiting -= 1;
        if (this.#waiting === 0) this.#forget();
        resolve(isGranted);
      };
      const leave = (): void => end(false);
      const waiter: Waiter = { isOver: false, grant: () => end(true) };
      const queue = this.#queues.get(run) ?? [];
      this.#queues.set(run, queue);
      queue[add](waiter);
      this.#waiting += 1;
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  #serve(): void {
    while (this.#waiting > 0 && !this.#isFull()) {
      this.#taken += 1;
      this.#next()?.grant();
    }
  }

  #next(): Waiter | undefined {
    for (const [run, queue] of this.#queues) {
      this.#queues.delete(run);
      let waiter = queue.shift();
      while (waiter?.isOver === true) waiter = queue.shift();
      // Behind all others: now it is their turn.
      if (queue.length > 0) this.#queues.set(run, queue);
      if (waiter !== undefined) return waiter;
    }
    return undefined;
  }

  #isFull(): boolean {
    return this.#taken >= Math.min((this.#capacity ??= capacityOf(descriptorLimit())), this.#most);
  }

  #tryLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#most += 1;
      this.#serve();
      if (this.#waiting > 0) this.#tryLater();
    }, RETRY_MS);
  }

  #forget(): void {
    this.#queues.clear();
    this.#most = Number.POSITIVE_INFINITY;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function capacityOf(descriptors: number = Number.POSITIVE_INFINITY): number {
  return Math.max(1, Math.floor((descriptors - OWN_DESCRIPTORS) / DESCRIPTORS_EACH));
}

/** The limit for all runs of this process: they share its descriptors. */
export const sharedLimit: ProcessLimit = new ProcessLimit();
