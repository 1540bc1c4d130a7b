import { setImmediate } from "node:timers/promises";

/** Shorter than anybody waits for the output of a job that runs meanwhile. */
const SLICE_MS = 5;

/**
 * The time that work without waiting may take in one go, before others have their turn. A call of the file system is answered at once
 * for a small file; another thread that asks for it costs several times as much.
 */
export class Slices {
  readonly #signal: AbortSignal;
  #end = performance.now() + SLICE_MS;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** `undefined` while there is time left; otherwise it is waited for. @throws the reason of the signal */
  next(): Promise<void> | undefined {
    return performance.now() < this.#end ? undefined : this.#pass();
  }

  async #pass(): Promise<void> {
    await setImmediate();
    this.#signal.throwIfAborted();
    this.#end = performance.now() + SLICE_MS;
  }
}
