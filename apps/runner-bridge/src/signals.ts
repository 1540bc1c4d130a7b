import { hurryOutput } from "@steps/console";

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type Signal = keyof typeof SIGNALS;

/** The signals that ask a program to stop: the first is heeded, the second does not wait for anything. */
export class StopSignals implements Disposable {
  readonly #stop = new AbortController();
  readonly #hurry = new AbortController();
  readonly #handlers = (Object.keys(SIGNALS) as Signal[]).map((name) => [name, () => this.#take(name)] as const);
  #first: Signal | undefined;

  constructor() {
    for (const [name, handler] of this.#handlers) process.on(name, handler);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get hurry(): AbortSignal {
    return this.#hurry.signal;
  }

  /** The exit code of a program that was stopped by these signals; `undefined` if nobody asked it to stop. */
  get exitCode(): number | undefined {
    return this.#first === undefined ? undefined : 128 + SIGNALS[this.#first];
  }

  #take(name: Signal): void {
    // Who asks twice waits neither for the job nor for the reader of its output.
    hurryOutput();
    if (this.#first !== undefined) this.#hurry.abort();
    this.#first ??= name;
    this.#stop.abort();
  }

  [Symbol.dispose](): void {
    for (const [name, handler] of this.#handlers) process.off(name, handler);
  }
}
