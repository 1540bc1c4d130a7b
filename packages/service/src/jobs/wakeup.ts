/**
 * Those who wait for something new. Many news at once wake them once, after what else the system has to tell: a job that
 * prints single bytes does not wake its followers for each.
 */
export class Wakeup {
  readonly #waiting = new Set<() => void>();
  #isDue = false;

  /** Resolves at the next news or abort, whatever comes first. It leaves nothing behind. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.size;
  }

  notify(): void {
    if (this.#isDue || this.#waiting.size === 0) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      for (const wake of this.#waiting) wake();
    });
  }
}
