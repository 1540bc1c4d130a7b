import { MAX_TIMER_MS } from "@steps/model";
import { hurryOutput } from "../terminal.ts";

const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/**
 * The signals that end a program that has jobs: the first drains, the second cancels, the third leaves. After the time of draining
 * it goes on as if there had been a second signal; without a time, draining takes as long as the jobs.
 */
export class DrainSignals implements Disposable {
  readonly #stages = [new AbortController(), new AbortController(), new AbortController()] as const;
  readonly #timeoutMs: number | undefined;
  readonly #handler = (): void => this.#advance();
  #timer: NodeJS.Timeout | undefined;

  constructor({ timeoutMs }: { readonly timeoutMs?: number | undefined } = {}) {
    this.#timeoutMs = timeoutMs;
    for (const name of SIGNALS) process.on(name, this.#handler);
  }

  /** No more jobs are taken. */
  get drain(): AbortSignal {
    return this.#stages[0].signal;
  }

  /** Jobs that run are cancelled. */
  get cancel(): AbortSignal {
    return this.#stages[1].signal;
  }

  /** Nothing is waited for. */
  get leave(): AbortSignal {
    return this.#stages[2].signal;
  }

  #advance(): void {
    const [drain, cancel, leave] = this.#stages;
    if (!drain.signal.aborted) {
      drain.abort();
      if (this.#timeoutMs === 0) this.#cancel();
      else if (this.#timeoutMs !== undefined)
        this.#timer = setTimeout(() => this.#cancel(), Math.min(this.#timeoutMs, MAX_TIMER_MS));
    } else if (cancel.signal.aborted) leave.abort();
    else this.#cancel();
  }

  #cancel(): void {
    clearTimeout(this.#timer);
    // Whoever wants the jobs to end does not wait for the reader of our output either.
    hurryOutput();
    this.#stages[1].abort();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const name of SIGNALS) process.off(name, this.#handler);
  }
}
