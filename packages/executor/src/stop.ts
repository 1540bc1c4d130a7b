import { signalGroup } from "./terminate.ts";

/** The way a process group is stopped: TERM once, KILL when the grace is over or somebody is in a hurry. */
export class Stop {
  readonly #pgid: number;
  readonly #graceMs: number;
  readonly #hurry: AbortSignal | undefined;
  #deadline: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(pgid: number, graceMs: number, hurry?: AbortSignal) {
    this.#pgid = pgid;
    this.#graceMs = graceMs;
    this.#hurry = hurry;
    hurry?.addEventListener("abort", this.#kill, { once: true });
  }

  /** What is left of the grace; `undefined` when nobody stopped it. */
  get remainingMs(): number | undefined {
    return this.#deadline === undefined ? undefined : Math.max(0, this.#deadline - performance.now());
  }

  begin(): void {
    if (this.#isOver || this.#deadline !== undefined) return;
    this.#deadline = performance.now() + this.#graceMs;
    signalGroup(this.#pgid, "SIGTERM");
    if (this.#hurry?.aborted === true) this.#kill();
    else this.#timer = setTimeout(this.#kill, this.#graceMs);
  }

  /** The group is gone: from now on a signal could reach another one that was given its number. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#hurry?.removeEventListener("abort", this.#kill);
  }

  readonly #kill = (): void => {
    if (this.#isOver || this.#deadline === undefined) return;
    this.#deadline = performance.now();
    signalGroup(this.#pgid, "SIGKILL");
  };
}
