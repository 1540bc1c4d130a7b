import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { makePipe } from "@steps/platform/runtime";
import { closePipes, openPipes } from "./open-pipes.ts";
import { areUnread, Fifos, makeFifos, type PipeMaker, removeFifos } from "./fifos.ts";

const KEPT = 8;
const REFILL_BELOW = 4;
/** Long enough that a run which has just taken a pair has started its process. */
const REFILL_AFTER_MS = 100;

/** How pipes are kept. */
export interface PipeReserveOptions {
  /** A program that makes them. Default: one is started each time. */
  readonly maker?: PipeMaker | undefined;
  /**
   * How many runs that belong together are there at a time: what one of them has read to its end serves another then. Default: each
   * pair goes to one run, into a folder of its own, and never comes back.
   */
  readonly sharedBy?: number;
}

/**
 * Named pipes that are made before anybody needs them, for a process that starts many runs: to make a pair takes as long as to
 * start a process.
 */
export class PipeReserve implements Disposable {
  readonly #dir: string;
  readonly #maker: PipeMaker | undefined;
  readonly #isShared: boolean;
  readonly #kept: number;
  readonly #refillBelow: number;
  #pairs: Fifos[] = [];
  #isOver = false;
  #isRefilling = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param parent a private directory on the file system of the runs; the reserve removes at its end what it made there */
  constructor(parent: string, { maker, sharedBy }: PipeReserveOptions = {}) {
    this.#maker = maker;
    this.#isShared = sharedBy !== undefined;
    this.#kept = sharedBy ?? KEPT;
    this.#refillBelow = this.#isShared ? 1 : REFILL_BELOW;
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    this.#dir = mkdtempSync(join(parent, "pipes-"));
    // Where the engine makes pipes as they are needed, nobody asks for others.
    const pipes = openPipes(makePipe);
    if (pipes === undefined) this.#refillSoon(0);
    else closePipes(pipes);
  }

  /** Gives a pair to a run, if there is one. @param into the run's directory, which the pair is moved to unless others get it later */
  take(into: string): Fifos | undefined {
    const pair = this.#pop();
    if (pair === undefined || this.#isShared) return pair;
    const dir = join(into, basename(pair.dir));
    try {
      renameSync(pair.dir, dir);
      return new Fifos(dir);
    } catch {
      // Somebody removed it, or the run is elsewhere.
      return undefined;
    }
  }

  /** Takes a pair back that nobody writes to any more, and says whether it does. */
  giveBack(pair: Fifos): boolean {
    if (!this.#isShared || this.#isOver) return false;
    this.#pairs.push(pair);
    return true;
  }

  #pop(): Fifos | undefined {
    for (;;) {
      const pair = this.#pairs.pop();
      if (this.#pairs.length < this.#refillBelow) this.#refillSoon(REFILL_AFTER_MS);
      if (pair === undefined || !this.#isShared || areUnread(pair)) return pair;
      removeFifos(pair);
    }
  }

  #refillSoon(ms: number): void {
    if (this.#isOver || this.#isRefilling || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#refill(), ms).unref();
  }

  async #refill(): Promise<void> {
    this.#timer = undefined;
    this.#isRefilling = true;
    const made = await makeFifos(this.#dir, this.#kept - this.#pairs.length, this.#maker);
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
