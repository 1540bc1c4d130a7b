import type { ActionRunner } from "@steps/executor";
import type { ActionHost } from "@steps/github-runner";
import type { HostOptions, OpenActionHost } from "./action-host.ts";

/** The host of a run, which is made when the first GitHub action comes: most jobs have none. */
export class LazyActionHost implements AsyncDisposable {
  readonly #options: HostOptions;
  #opened: Promise<OpenActionHost> | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  /** Loads the runner of actions, which opens the host when it needs it. */
  readonly openRunner = async (): Promise<ActionRunner> => {
    const { createActionRunner } = await import("@steps/github-runner");
    return createActionRunner(this.#open);
  };

  readonly #open = async (): Promise<ActionHost> => {
    this.#opened ??= import("./action-host.ts").then(({ openActionHost }) => openActionHost(this.#options));
    return (await this.#opened).host;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#opened !== undefined) await (await this.#opened)[Symbol.asyncDispose]();
  }
}
