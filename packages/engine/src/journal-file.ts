import { closeSync, constants, fdatasync, fdatasyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { stateFailure } from "./directories.ts";
import type { EngineError } from "./engine-error.ts";

/**
 * When the journal is forced to the disk: never; in the background, within a tenth of a second; before each process
 * starts; after each event.
 */
export type TraceSync = "none" | "background" | "step" | "all";

const BACKGROUND_MS = 100;
const BARRIERS: ReadonlySet<string> = new Set([
  "process-starting",
  "run-finished",
  "attempt-started",
  "pipeline-finished",
]);

/** The lines of a journal, as the ones of `@steps/trace` write them. */
interface LineWriter<Event> {
  encode(event: Event): string;
  readonly root: string;
  readonly count: number;
}

/**
 * The journal of a run or of a pipeline on disk. Every event is handed to the system at once, so a kill of the runner loses none; what a
 * power cut may take depends on `sync`.
 */
export class JournalFile<Event extends { readonly type: string }> implements AsyncDisposable {
  readonly #path: string;
  readonly #sync: TraceSync;
  #fd: number;
  readonly #createLines: () => LineWriter<Event>;
  #journal: LineWriter<Event>;
  #writtenRoot: string;
  #failure: EngineError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #syncing: Promise<void> | undefined;

  constructor(path: string, sync: TraceSync, createLines: () => LineWriter<Event>) {
    this.#fd = create(path);
    this.#path = path;
    this.#sync = sync;
    this.#createLines = createLines;
    this.#journal = createLines();
    this.#writtenRoot = this.#journal.root;
  }

  get root(): string {
    return this.#journal.root;
  }

  /** The root of what was written whole: after a failure it is not that of all events. */
  get writtenRoot(): string {
    return this.#writtenRoot;
  }

  get count(): number {
    return this.#journal.count;
  }

  /**
   * The error that kept an event from being written, such as a full disk. Nothing is written after it. Undefined if
   * there was none.
   */
  get failure(): EngineError | undefined {
    return this.#failure;
  }

  /** Appends an event. */
  append(event: Event): void {
    const line = Buffer.from(this.#journal.encode(event));
    if (this.#failure !== undefined) return;
    try {
      this.#write(line, event);
      this.#writtenRoot = this.#journal.root;
    } catch (error) {
      this.#failure = stateFailure(this.#path, error);
    }
  }

  #write(line: Buffer, event: Event): void {
    for (let at = 0; at < line.length;) at += writeSync(this.#fd, line, at);
    const isBarrier = BARRIERS.has(event.type);
    if (this.#sync === "all" || (this.#sync === "step" && isBarrier)) fdatasyncSync(this.#fd);
    // One wait serves all events of that time, and no step waits for it.
    if (this.#sync === "background") this.#timer ??= setTimeout(() => this.#syncSoon(), BACKGROUND_MS).unref();
  }

  /** Puts a journal of these events in the place of the one that was written: a reader finds the one or the other. */
  async replace(events: readonly Event[]): Promise<void> {
    clearTimeout(this.#timer);
    await this.#syncing;
    const path = `${this.#path}.masked`;
    const journal = this.#createLines();
    const lines = events.map((event) => Buffer.from(journal.encode(event)));
    this.#journal = journal;
    try {
      const fd = create(path);
      closeSync(this.#fd);
      this.#fd = fd;
      for (const line of lines) for (let at = 0; at < line.length;) at += writeSync(fd, line, at);
      if (this.#sync !== "none") fdatasyncSync(fd);
      renameSync(path, this.#path);
      this.#writtenRoot = journal.root;
    } catch (error) {
      rmSync(path, { force: true });
      this.#failure ??= stateFailure(this.#path, error);
    }
  }

  #syncSoon(): void {
    // Events that arrive while the disk is busy need another sync of their own.
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

function create(path: string): number {
  const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
}
