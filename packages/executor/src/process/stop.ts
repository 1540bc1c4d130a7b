import { signalGroup } from "@steps/platform/processes";

/**
 * Sends a signal to a process of another system through its client. Fulfilled when the process has been told; never
 * rejects.
 */
export type SendSignal = (signal: "SIGTERM" | "SIGKILL") => Promise<void>;

/** The way a process group is stopped: TERM once, KILL when the grace is over or somebody is in a hurry. */
export class Stop {
  readonly #pgid: number;
  readonly #graceMs: number;
  readonly #hurry: AbortSignal | undefined;
  readonly #send: SendSignal | undefined;
  #deadline: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** @param options.send signals the process whose client the group is: the group ends with it, and is killed after it */
  constructor(
    pgid: number,
    graceMs: number,
    options: { readonly hurry?: AbortSignal | undefined; readonly send?: SendSignal | undefined } = {},
  ) {
    const { hurry, send } = options;
    this.#pgid = pgid;
    this.#graceMs = graceMs;
    this.#hurry = hurry;
    this.#send = send;
  }

  /** The rest of the grace, in milliseconds; `undefined` when nobody has stopped the group. */
  get remainingMs(): number | undefined {
    return this.#deadline === undefined ? undefined : Math.max(0, this.#deadline - performance.now());
  }

  begin(): void {
    if (this.#isOver || this.#deadline !== undefined) return;
    this.#deadline = performance.now() + this.#graceMs;
    if (this.#send === undefined) signalGroup(this.#pgid, "SIGTERM");
    else void this.#send("SIGTERM");
    if (this.#hurry?.aborted === true) {
      this.#kill();
      return;
    }
    this.#timer = setTimeout(this.#kill, this.#graceMs);
    this.#hurry?.addEventListener("abort", this.#kill, { once: true });
  }

  /** The group is gone: from now on a signal could reach another one that was given its number. */
  end(): void {
    this.#isOver = true;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#hurry?.removeEventListener("abort", this.#kill);
  }

  readonly #kill = (): void => {
    if (this.#isOver || this.#deadline === undefined) return;
    this.#deadline = performance.now();
    if (this.#send === undefined) signalGroup(this.#pgid, "SIGKILL");
    else void this.#send("SIGKILL").then(() => this.#isOver || signalGroup(this.#pgid, "SIGKILL"));
  };
}
