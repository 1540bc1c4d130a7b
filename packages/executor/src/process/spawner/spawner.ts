import { basename } from "node:path";
import { ownNode } from "@steps/platform/runtime";
import type { OutputPipes } from "../../output/output-pipes.ts";
import type { NotSpawned, Spawned, SpawnOrder } from "./spawned.ts";
import type { SpawnerProcess } from "./spawner-process.ts";

/** A run of fewer would wait longer for its spawner than it gains. */
const DEFAULT_AFTER = 64;

/**
 * Starts the processes of a run, or of several that belong together, from a small process beside us. A process is started by copying the one that starts it, and
 * ours is large. Only a run that starts many gets one; without it, or when it is lost, we start them ourselves.
 */
export class Spawner implements AsyncDisposable {
  readonly #after: number;
  #count = 0;
  #starting: Promise<void> | undefined;
  #process: SpawnerProcess | undefined;

  /** @param after how many processes are not worth one */
  constructor(after: number = DEFAULT_AFTER) {
    this.#after = after;
  }

  /** `undefined`, at once or after it was tried: nothing was started, and the caller may do it. */
  spawn(order: SpawnOrder, pipes: OutputPipes): Promise<Spawned | NotSpawned | undefined> | undefined {
    // Begun at once, so that it starts while the process does that we start ourselves.
    if (this.#count === this.#after) this.#starting = this.#start();
    this.#count += 1;
    return this.#process?.spawn(order, pipes);
  }

  /** Ends it; when this is fulfilled nothing of it is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#starting;
    await this.#process?.close();
  }

  async #start(): Promise<void> {
    // A Node that is started by a loader, or built into another program, cannot be started by its name. The packed executable is
    // no Node, and starts processes without a copy of itself.
    const node = ownNode()?.program ?? "";
    if (!/^node(?:js)?$/.test(basename(node))) return;
    try {
      const { SpawnerProcess } = await import("./spawner-process.ts");
      this.#process = new SpawnerProcess(node);
    } catch {
      // There is no room for it; maybe there is for the step.
    }
  }
}
