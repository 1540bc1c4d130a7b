import { constants, fstatSync, openSync, writeSync } from "node:fs";

const RETRY_MS = 2;
/** How often a full pipe is tried again before we wait: a reader that is nearly as fast as we are is not held up. */
const EAGER_RETRIES = 50;
/** How long a reader that takes nothing is waited for when the job has to end. */
const LAST_WAIT_MS = 500;

/** Tells whether the next byte begins a line. Writers whose output a reader sees as one share a cursor. */
export interface Cursor {
  isAtLineStart: boolean;
  /** Stands below all that was written. Absent: nothing does. */
  overlay?: Overlay | undefined;
}

/** Something that is drawn below all output, and has to be gone before more is written. */
export interface Overlay {
  readonly hide: () => void;
}

const LINE_FEED = 10;
/** Clears a line that was drawn over. */
export const CLEAR_LINE = "\r\u001B[K";

/**
 * Writes bytes to a descriptor of ours, in order, at the reader's pace. A reader that went away (`| head`) is not an
 * error: the job goes on and its output goes to the log alone. One that has stopped reading holds the job back, but not
 * this process, which still has to hear signals.
 */
export class OutputWriter {
  readonly #given: number;
  readonly #cursor: Cursor;
  #fd: number | undefined;
  #isClosed = false;
  #isHurried = false;
  #pending: Promise<void> | undefined;

  constructor(fd: number, cursor: Cursor = { isAtLineStart: true }) {
    this.#given = fd;
    this.#cursor = cursor;
  }

  /** Whether a reader sees the output of both writers as one. */
  isBeside(other: OutputWriter): boolean {
    return this.#cursor === other.#cursor;
  }

  /** Whether the reader has taken all that was written. */
  get isIdle(): boolean {
    return this.#pending === undefined;
  }

  /** Whether the next byte begins a line. */
  get isAtLineStart(): boolean {
    return this.#cursor.isAtLineStart;
  }

  /** Sets what stands below the output of this writer and of those that it shares a place with. */
  set overlay(overlay: Overlay | undefined) {
    this.#cursor.overlay = overlay;
  }

  /** Draws an overlay: nothing has to be hidden for it, and it is no part of a line. */
  draw(text: string): void {
    if (text === "\n") this.#cursor.isAtLineStart = true;
    void this.#send(Buffer.from(text));
  }

  /** Writes lines of our own, which begin no line of somebody else's. */
  writeLines(text: string): void | Promise<void> {
    return this.write(Buffer.from(this.#cursor.isAtLineStart ? text : `\n${text}`));
  }

  /** A promise means that the reader is behind. */
  write(chunk: Uint8Array): void | Promise<void> {
    if (this.#isClosed) return undefined;
    if (chunk.length > 0) this.#cursor.overlay?.hide();
    if (chunk.length > 0) this.#cursor.isAtLineStart = chunk.at(-1) === LINE_FEED || isCleared(chunk);
    return this.#send(chunk);
  }

  #send(chunk: Uint8Array): void | Promise<void> {
    if (this.#isClosed) return undefined;
    if (this.#pending !== undefined) return this.#follow(Uint8Array.from(chunk));
    const written = this.#attempt(chunk);
    return written < chunk.length ? this.#follow(Uint8Array.from(chunk.subarray(written))) : undefined;
  }

  /** Ends the patience with slow readers: one that takes nothing for half a second gets nothing more. */
  hurry(): void {
    this.#isHurried = true;
  }

  #follow(chunk: Uint8Array): Promise<void> {
    const turn = (this.#pending ?? Promise.resolve()).then(() => this.#finish(chunk));
    const pending = turn.finally(() => {
      if (this.#pending === pending) this.#pending = undefined;
    });
    this.#pending = pending;
    return pending;
  }

  async #finish(chunk: Uint8Array): Promise<void> {
    let retries = 0;
    for (let at = 0; at < chunk.length && !this.#isClosed;) {
      const written = this.#attempt(chunk.subarray(at));
      at += written;
      retries = written === 0 ? retries + 1 : 0;
      if (written > 0) continue;
      if (retries < EAGER_RETRIES) await new Promise((resolve) => setImmediate(resolve));
      else if (this.#isHurried && (retries - EAGER_RETRIES) * RETRY_MS > LAST_WAIT_MS) this.#isClosed = true;
      else await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** Gives how much was taken; less than there is means that the reader is behind. */
  #attempt(chunk: Uint8Array): number {
    this.#fd ??= withoutBlocking(this.#given);
    let at = 0;
    while (at < chunk.length) {
      try {
        at += writeSync(this.#fd, chunk, at);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "EAGAIN") return at;
        if (code !== "EPIPE" && code !== "EIO") {
          // A full disk may have taken a part of a line.
          if (at > 0) this.#cursor.isAtLineStart = chunk[at - 1] === LINE_FEED;
          throw error;
        }
        this.#isClosed = true;
        return chunk.length;
      }
    }
    return at;
  }
}

function isCleared(chunk: Uint8Array): boolean {
  return chunk.length === CLEAR_LINE.length && Buffer.from(chunk).toString("latin1") === CLEAR_LINE;
}

/**
 * A descriptor for the same reader that says EAGAIN rather than stop the whole process. Whether writing blocks belongs to
 * the open file, which is our caller's too, so a pipe or a terminal is opened once more. A socket cannot be; Node's stream
 * makes it non-blocking as it does in every program. Files never block and stay as they are.
 */
function withoutBlocking(fd: number): number {
  const stat = fstatSync(fd);
  if (stat.isSocket()) {
    if (fd === 1) void process.stdout;
    else if (fd === 2) void process.stderr;
    return fd;
  }
  if (!stat.isFIFO() && !stat.isCharacterDevice()) return fd;
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // Another user's terminal, a pipe without a reader, no /proc: what we have has to do.
    return fd;
  }
}
