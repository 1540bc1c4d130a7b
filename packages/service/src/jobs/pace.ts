import { setImmediate as nextTurn } from "node:timers/promises";

const BYTES_PER_TURN = 512 * 1024;

/** Lets everybody else have their turn now and then: reading what the system has in memory never waits by itself. */
export class Pace {
  #bytes = 0;

  /** Counts what was read; a promise if it is time for a turn. */
  spend(bytes: number): Promise<void> | undefined {
    this.#bytes += bytes;
    if (this.#bytes < BYTES_PER_TURN) return undefined;
    this.#bytes = 0;
    return nextTurn();
  }
}
