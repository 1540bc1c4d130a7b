/** So many may be at something at once; the others wait, the first that came first. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a slot; what it gives has to be disposed. */
  async take(): Promise<Disposable> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (!isTaken) return;
        isTaken = false;
        const next = this.#waiting.shift();
        if (next === undefined) this.#free += 1;
        else next();
      },
    };
  }
}
