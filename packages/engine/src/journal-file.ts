import { closeSync, constants, fdatasync, fdatasyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { noteStuckThread } from "@steps/platform/runtime";
import { stateFailure } from "./directories.ts";
import type { EngineError } from "./engine-error.ts";

/**
 * When the journal is forced to the disk: never; in the background, within a tenth of a second; before each process
 * starts; after each event.
 */
export type TraceSync = "none" | "background" | "step" | "all";

const BACKGROUND_MS = 100;
/** A disk that has not answered by then was perhaps never asked, because the system starts no more threads. */
const MAX_WAIT_MS = 2000;
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
  /** The bytes of the last lines that were written. */
  #appended = 0;
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

  /** Appends events that come at one moment, and says how many of them were written whole: all, unless there is a failure. */
  append(events: readonly Event[]): number {
    const lines = events.map((event) => ({ text: this.#journal.encode(event), root: this.#journal.root }));
    if (this.#failure !== undefined) return 0;
    try {
      this.#write(Buffer.from(lines.map(({ text }) => text).join("")));
      this.#wait(events);
      this.#writtenRoot = this.#journal.root;
      return lines.length;
    } catch (error) {
      this.#failure = stateFailure(this.#path, error);
      return this.#takeWhole(lines);
    }
  }

  #write(bytes: Buffer): void {
    this.#appended = 0;
    while (this.#appended < bytes.length) this.#appended += writeSync(this.#fd, bytes, this.#appended);
  }

  // The last line may be torn.
  #takeWhole(lines: readonly { readonly text: string; readonly root: string }[]): number {
    let end = 0;
    const next = lines.findIndex(({ text }) => (end += Buffer.byteLength(text)) > this.#appended);
    const count = next === -1 ? lines.length : next;
    this.#writtenRoot = lines[count - 1]?.root ?? this.#writtenRoot;
    return count;
  }

  #wait(events: readonly Event[]): void {
    const isBarrier = events.some(({ type }) => BARRIERS.has(type));
    if (this.#sync === "all" || (this.#sync === "step" && isBarrier)) fdatasyncSync(this.#fd);
    // One wait serves all events of that time, and no step waits for it.
    if (this.#sync === "background") this.#timer ??= setTimeout(() => this.#syncSoon(), BACKGROUND_MS).unref();
  }

  /** Puts a journal of these events in the place of the one that was written: a reader finds the one or the other. */
  async replace(events: readonly Event[]): Promise<void> {
    clearTimeout(this.#timer);
    await this.#whenSynced();
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
    await this.#whenSynced();
    closeSync(this.#fd);
  }

  async #whenSynced(): Promise<void> {
    if (this.#syncing === undefined) return;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), MAX_WAIT_MS);
    void this.#syncing.then(() => resolve(true));
    const isSynced = await promise;
    clearTimeout(timer);
    if (isSynced) return;
    noteStuckThread();
    fdatasyncSync(this.#fd);
  }
}

function create(path: string): number {
  const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
}
