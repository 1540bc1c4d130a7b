import { Cancelled } from "@steps/executor";
import { hurryOutput } from "./terminal.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Turns the signals that ask a program to stop into one AbortSignal. */
export class StopSignals implements Disposable {
  readonly #controller = new AbortController();
  readonly #handlers = SIGNALS.map((name) => [name, () => this.#controller.abort(new Cancelled(name))] as const);

  constructor() {
    for (const [name, handler] of this.#handlers) process.on(name, handler);
    this.signal.addEventListener("abort", hurryOutput);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const [name, handler] of this.#handlers) process.off(name, handler);
  }
}
