import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { Fifos, makeFifos, type PipeMaker } from "./fifos.ts";

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
  readonly #maker: PipeMaker | undefined;
  #pairs: Fifos[] = [];
  #isOver = false;
  #isRefilling = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param parent a private directory on the file system of the runs; the reserve removes at its end what it made there */
  constructor(parent: string, maker?: PipeMaker) {
    this.#maker = maker;
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    this.#dir = mkdtempSync(join(parent, "pipes-"));
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
    } catch {
      // Somebody removed it, or the run is elsewhere.
      return undefined;
    }
  }

  #refillSoon(ms: number): void {
    if (this.#isOver || this.#isRefilling || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#refill(), ms).unref();
  }

  async #refill(): Promise<void> {
    this.#timer = undefined;
    this.#isRefilling = true;
    const made = await makeFifos(this.#dir, KEPT - this.#pairs.length, this.#maker);
    this.#isRefilling = false;
    if (this.#isOver) {
      this.#remove();
      return;
    }
    // A system that makes none now never will.
    if (made.length === 0) this.#isOver = true;
    this.#pairs.push(...made);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#isOver = true;
    this.#pairs = [];
    // Pipes that are being made would be in the way; the refill that makes them removes them.
    if (!this.#isRefilling) this.#remove();
  }

  #remove(): void {
    try {
      rmSync(this.#dir, { recursive: true, force: true });
    } catch {
      // It goes with the directory that it is in.
    }
  }
}
