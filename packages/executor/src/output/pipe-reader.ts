import { closeSync, readSync } from "node:fs";
import { type PipeStream, readPipe } from "@steps/platform/runtime";

/**
 * The events and actions of a `Readable` that the output of a process needs: `data` with bytes, `end` when nobody writes any more,
 * `error`, and `close` last.
 */
export interface OutputStream {
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  on(event: "end" | "close" | "error", listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
  /** Reads what is there already, if nothing was read yet. Absent: everything comes as it is written. */
  settle?(): void;
}

/** Most steps end sooner. Output of the others is shown this much later, once. */
const WAIT_MS = 4;
/** The time between two looks at a pipe that cannot be followed yet. */
const RETRY_MS = 20;
const READ_BYTES = 64 * 1024;
/** A pipe holds one such read, unless a process has made it larger. */
const MAX_READS = 16;

type OutputEvent = "data" | "end" | "close" | "error";

const NOTHING = new Uint8Array();

let buffer: Buffer | undefined;

/**
 * Reads a pipe whose writer may end at once. To follow a pipe takes longer than to start a short process, so that it is begun only
 * after some time, or when the process has ended and others still hold the pipe; what is there when it ends is read in one go.
 */
export class PipeReader implements OutputStream {
  readonly #listeners: Readonly<Record<OutputEvent, ((chunk: Uint8Array) => void)[]>> = {
    data: [],
    end: [],
    close: [],
    error: [],
  };
  /** The descriptor, until something else has it. */
  #fd: number | undefined;
  readonly #readPipe: typeof readPipe;
  #stream: PipeStream | undefined;
  #isPaused = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param fd the reading end, opened without waiting (`O_NONBLOCK`); nothing is read from it before somebody listens to `data`
   * @param read follows a pipe. Default: the engine does
   */
  constructor(fd: number, read: typeof readPipe = readPipe) {
    this.#fd = fd;
    this.#readPipe = read;
  }

  on(event: OutputEvent, listener: (chunk: Uint8Array) => void): this {
    if (event === "data") this.#timer ??= setTimeout(() => this.#follow(), WAIT_MS);
    this.#listeners[event].push(listener);
    return this;
  }

  settle(): void {
    this.#takeAll();
    this.#follow();
  }

  #takeAll(): void {
    for (let reads = 0; reads < MAX_READS && !this.#isPaused; reads++) {
      if (this.#fd === undefined) return;
      const count = readNow(this.#fd);
      if (count === undefined) return;
      if (count === 0) {
        this.#release();
        this.#tell("end");
        this.#tell("close");
        return;
      }
      this.#tell("data", Buffer.from((buffer as Buffer).subarray(0, count)));
    }
  }

  pause(): void {
    this.#isPaused = true;
    this.#stream?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#stream?.resume();
  }

  destroy(): void {
    if (this.#release()) process.nextTick(() => this.#tell("close"));
    this.#stream?.destroy();
  }

  #tell(event: OutputEvent, chunk: Uint8Array = NOTHING): void {
    for (const listener of this.#listeners[event]) listener(chunk);
  }

  #follow(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    clearTimeout(this.#timer);
    const stream = this.#tryToRead(fd);
    if (stream === undefined) {
      this.#timer = setTimeout(() => this.settle(), RETRY_MS);
      return;
    }
    this.#fd = undefined;
    this.#stream = stream;
    stream.on("data", (chunk) => this.#tell("data", chunk));
    stream.on("error", () => this.#tell("error"));
    stream.on("end", () => this.#tell("end"));
    stream.on("close", () => this.#tell("close"));
    if (this.#isPaused) stream.pause();
  }

  #tryToRead(fd: number): PipeStream | undefined {
    try {
      return this.#readPipe(fd);
    } catch {
      // No descriptors are left. What the process prints meanwhile must not be lost, nor stop it.
      return undefined;
    }
  }

  /** Closes the descriptor; says whether it was still ours. */
  #release(): boolean {
    clearTimeout(this.#timer);
    if (this.#fd === undefined) return false;
    closeSync(this.#fd);
    this.#fd = undefined;
    return true;
  }
}

/** The bytes that were read into the buffer; 0 at the end, `undefined` when there are none yet. */
function readNow(fd: number): number | undefined {
  buffer ??= Buffer.allocUnsafe(READ_BYTES);
  try {
    return readSync(fd, buffer);
  } catch {
    // Others hold the pipe and write nothing. Whoever follows it is told of any other error.
    return undefined;
  }
}
