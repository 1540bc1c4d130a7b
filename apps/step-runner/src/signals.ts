import { hurryOutput } from "@steps/console/terminal";
import { Cancelled } from "@steps/executor";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Turns the signals that ask a program to stop into an AbortSignal. */
export class StopSignals implements Disposable {
  readonly #controller = new AbortController();
  readonly #hurry = new AbortController();
  readonly #handlers = SIGNALS.map((name) => [name, () => this.#take(name)] as const);

  constructor() {
    for (const [name, handler] of this.#handlers) process.on(name, handler);
    this.signal.addEventListener("abort", hurryOutput);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The name of the first signal. Undefined before there is one. */
  get signalName(): string | undefined {
    const reason: unknown = this.signal.reason;
    return reason instanceof Cancelled ? reason.signalName : undefined;
  }

  /** Aborted by the second signal: who asks twice does not want to wait for the grace time. */
  get hurry(): AbortSignal {
    return this.#hurry.signal;
  }

  #take(name: (typeof SIGNALS)[number]): void {
    if (this.signal.aborted) this.#hurry.abort();
    this.#controller.abort(new Cancelled(name));
  }

  [Symbol.dispose](): void {
    for (const [name, handler] of this.#handlers) process.off(name, handler);
  }
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
