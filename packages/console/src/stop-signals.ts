import { exitCodeOf } from "@steps/model";
import { hurryOutput } from "./terminal.ts";

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;
type Signal = (typeof SIGNALS)[number];

/** The signals that ask a program to stop: the first is heeded, the second does not wait for anything. */
export class StopSignals implements Disposable {
  readonly #stop = new AbortController();
  readonly #hurry = new AbortController();
  readonly #handlers = SIGNALS.map((name) => [name, () => this.#take(name)] as const);
  #first: Signal | undefined;

  constructor() {
    for (const [name, handler] of this.#handlers) process.on(name, handler);
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborted by the second signal. */
  get hurry(): AbortSignal {
    return this.#hurry.signal;
  }

  /** Waits until the program is asked to stop. */
  async asked(): Promise<void> {
    const { signal } = this;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }

  /** The exit code of a program that was stopped by these signals; `undefined` if nobody asked it to stop. */
  get exitCode(): number | undefined {
    return this.#first === undefined ? undefined : exitCodeOf({ status: "cancelled", signal: this.#first });
  }

  #take(name: Signal): void {
    // Whoever asks twice waits neither for the job nor for the reader of its output.
    hurryOutput();
    if (this.#first !== undefined) this.#hurry.abort();
    this.#first ??= name;
    this.#stop.abort();
  }

  [Symbol.dispose](): void {
    for (const [name, handler] of this.#handlers) process.off(name, handler);
  }
}
