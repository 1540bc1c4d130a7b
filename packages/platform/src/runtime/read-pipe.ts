import { closeSync } from "node:fs";
import type { Socket } from "node:net";
import { bun, type BunEngine } from "./engine.ts";

/** The bytes of a pipe as they come: the part of a `Readable` that whoever reads a pipe needs. `close` comes last. */
export interface PipeStream {
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/**
 * Reads a pipe as its bytes come, and closes it at its end. Nothing comes before the caller's turn of the event loop has ended.
 *
 * @param fd the reading end, opened without waiting (`O_NONBLOCK`)
 * @throws {Error} with the code of the system, EMFILE where no descriptors are left; then the pipe is still the caller's
 */
export function readPipe(fd: number): PipeStream {
  return bun === undefined ? readSocket(fd) : new DirectPipe(bun, fd);
}

function readSocket(fd: number): Socket {
  const { Socket: Stream } = process.getBuiltinModule("node:net");
  return new Stream({ fd, readable: true, writable: false });
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

interface PipeListeners {
  readonly data: ((chunk: Uint8Array) => void)[];
  readonly end: (() => void)[];
  readonly close: (() => void)[];
  readonly error: ((error: Error) => void)[];
}

/** A pipe that Bun reads, without Node's streams between: to load them takes as long as a short step. */
class DirectPipe implements PipeStream {
  readonly #reader: Reader;
  readonly #listeners: PipeListeners = { data: [], end: [], close: [], error: [] };
  /** The bytes that come next. They wait here for a reader that has paused. */
  #next: ReturnType<Reader["read"]> | undefined;
  #isReading = false;
  #isPaused = false;
  #isOver = false;

  constructor(engine: BunEngine, fd: number) {
    this.#reader = engine.file(fd).stream().getReader();
    // The first read makes a descriptor of its own, so ours is not needed any more.
    this.#next = this.#reader.read();
    closeSync(fd);
    void this.#read();
  }

  on(event: keyof PipeListeners, listener: (value: never) => void): this {
    (this.#listeners[event] as ((value: never) => void)[]).push(listener);
    return this;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    void this.#read();
  }

  destroy(): void {
    if (!this.#isOver) this.#close();
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (!this.#isPaused && !this.#isOver) await this.#readOnce();
    } finally {
      this.#isReading = false;
    }
  }

  async #readOnce(): Promise<void> {
    const result = await this.#take();
    if (result === undefined || this.#isPaused || this.#isOver) return;
    this.#next = undefined;
    if (!result.done) {
      for (const listener of this.#listeners.data) listener(result.value);
      return;
    }
    for (const listener of this.#listeners.end) listener();
    this.#close();
  }

  async #take(): Promise<Awaited<ReturnType<Reader["read"]>> | undefined> {
    try {
      return await (this.#next ??= this.#reader.read());
    } catch (error) {
      if (this.#isOver) return undefined;
      for (const listener of this.#listeners.error) listener(error as Error);
      this.#close();
      return undefined;
    }
  }

  #close(): void {
    this.#isOver = true;
    const tell = (): void => {
      for (const listener of this.#listeners.close) listener();
    };
    void this.#reader.cancel().then(tell, tell);
  }
}
