import { closeSync, constants, fdatasync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { createJournal, type JournalEvent } from "@steps/trace";

/**
 * When the journal is forced to the disk: never; in the background, within a tenth of a second; before each process
 * starts; after each event.
 */
export type TraceSync = "none" | "background" | "step" | "all";

const BACKGROUND_MS = 100;

/**
 * The journal of a run on disk. Every event is handed to the system at once, so a kill of the runner loses none; what a
 * power cut may take depends on `sync`.
 */
export class JournalFile implements AsyncDisposable {
  readonly #fd: number;
  readonly #sync: TraceSync;
  readonly #journal = createJournal();
  #timer: NodeJS.Timeout | undefined;
  #syncing: Promise<void> | undefined;

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

  /** Appends an event. @throws when the disk is full */
  append(event: JournalEvent): void {
    const line = Buffer.from(this.#journal.encode(event));
    for (let at = 0; at < line.length;) at += writeSync(this.#fd, line, at);
    const isBarrier = event.type === "process-starting" || event.type === "run-finished";
    if (this.#sync === "all" || (this.#sync === "step" && isBarrier)) fdatasyncSync(this.#fd);
    // One wait serves all events of that time, and no step waits for it.
    if (this.#sync === "background") this.#timer ??= setTimeout(() => this.#syncSoon(), BACKGROUND_MS).unref();
  }

  #syncSoon(): void {
    // What comes while the disk is busy needs a wait of its own.
    this.#timer = undefined;
    const before = this.#syncing ?? Promise.resolve();
    this.#syncing = before.then(() => new Promise((resolve) => fdatasync(this.#fd, () => resolve())));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#syncing;
    closeSync(this.#fd);
  }
}
