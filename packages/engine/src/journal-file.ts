import { closeSync, constants, fdatasyncSync, openSync, writeSync } from "node:fs";
import { createJournal, type JournalEvent } from "@steps/trace";

/** When the journal is forced to the disk: never, before each process and at the end, or after each event. */
export type TraceSync = "none" | "step" | "all";

/** The journal of a run on disk: every event is handed to the system at once, so a kill of the runner loses none. */
export class JournalFile implements Disposable {
  readonly #fd: number;
  readonly #sync: TraceSync;
  readonly #journal = createJournal();

  constructor(path: string, sync: TraceSync) {
    const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    this.#fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    this.#sync = sync;
  }

  get root(): string {
    return this.#journal.root;
  }

  get count(): number {
    return this.#journal.count;
  }

  /**
   * Appends an event. With `step` the disk is waited for before a process starts, which also covers the end of the step
   * before it, and when the run ends: what may have run is known after a power cut, at one wait a step.
   */
  append(event: JournalEvent): void {
    const line = Buffer.from(this.#journal.encode(event));
    for (let at = 0; at < line.length;) at += writeSync(this.#fd, line, at);
    const isBarrier = event.type === "process-starting" || event.type === "run-finished";
    if (this.#sync === "all" || (this.#sync === "step" && isBarrier)) fdatasyncSync(this.#fd);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}
