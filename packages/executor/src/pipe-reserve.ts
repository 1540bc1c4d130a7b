import { mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { Fifos, makeFifos } from "./fifos.ts";

const KEPT = 8;
const REFILL_BELOW = 4;
/** Long enough that a run which has just taken a pair has started its process. */
const REFILL_AFTER_MS = 100;

/**
 * Named pipes that are made before anybody needs them, for a process that starts many runs: to make a pair takes as long as to
 * start a process. Each pair goes to one run and never comes back.
 */
export class PipeReserve implements Disposable {
  readonly #dir: string;
  #pairs: Fifos[] = [];
  #isEmptyForEver = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param dir made private and emptied; on the file system that the runs are on */
  constructor(dir: string) {
    this.#dir = dir;
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { mode: 0o700 });
    this.#refillSoon(0);
  }

  /** Moves a pair into a run's directory, if there is one. */
  take(into: string): Fifos | undefined {
    const pair = this.#pairs.pop();
    if (this.#pairs.length < REFILL_BELOW) this.#refillSoon(REFILL_AFTER_MS);
    if (pair === undefined) return undefined;
    const dir = join(into, basename(pair.dir));
    try {
      renameSync(pair.dir, dir);
      return new Fifos(dir);
    } catch (cause) {
      // Somebody removed it, or the run is elsewhere.
      void cause;
      return undefined;
    }
  }

  #refillSoon(ms: number): void {
    if (this.#isEmptyForEver || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#refill(), ms).unref();
  }

  async #refill(): Promise<void> {
    const made = await makeFifos(this.#dir, KEPT - this.#pairs.length);
    this.#timer = undefined;
    if (made.length === 0) this.#isEmptyForEver = true;
    this.#pairs.push(...made);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#isEmptyForEver = true;
    this.#pairs = [];
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
