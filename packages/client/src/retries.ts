const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;

/** When to try again, and when no more: at once, then after 100 ms, 200 ms … 5 s, until the window since the first failure is over. */
export class Retries {
  readonly #windowMs: number;
  #failures = 0;
  #since = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** How often it failed in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** How long it has been failing. */
  get failingForMs(): number {
    return this.#failures === 0 ? 0 : performance.now() - this.#since;
  }

  /** Notes a failure and gives the time to wait before the next attempt; `undefined` when the window is over. */
  next(windowMs: number = this.#windowMs): number | undefined {
    if (this.#failures++ === 0) this.#since = performance.now();
    if (this.failingForMs >= windowMs) return undefined;
    if (this.#failures === 1) return 0;
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(16, this.#failures - 2));
    // Whoever lost the same service at the same time shall not come back at the same time.
    const spreadMs = Math.ceil(delayMs * (0.5 + Math.random() / 2));
    return Math.min(spreadMs, Math.ceil(windowMs - this.failingForMs));
  }

  /** It works again. */
  reset(): void {
    this.#failures = 0;
  }
}
