const SIGNALS = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** The signals that end a program that takes jobs: the first drains, the second cancels, the third leaves. */
export class DrainSignals implements Disposable {
  readonly #stages = [new AbortController(), new AbortController(), new AbortController()] as const;
  readonly #handler = (): void => this.#stages.find(({ signal }) => !signal.aborted)?.abort();

  constructor() {
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

  [Symbol.dispose](): void {
    for (const name of SIGNALS) process.off(name, this.#handler);
  }
}
