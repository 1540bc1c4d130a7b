import { BLOCK_BYTES, BLOCKS, type HashListener, HashThread } from "./hash-thread.ts";

/** Each has two megabytes. */
const MAX_STREAMS = 16;

let thread: HashThread | undefined;
let count = 0;

/** The SHA-256 of one stream, computed by another thread. */
export class HashBeside implements HashListener {
  readonly #memory = new Uint8Array(new SharedArrayBuffer(BLOCK_BYTES * BLOCKS));
  readonly #thread: HashThread;
  readonly #id: number;
  readonly #opened = Promise.withResolvers<void>();
  readonly #digest = Promise.withResolvers<string>();
  /** The place in the memory that the next byte gets. */
  #at = 0;
  /** The blocks that the thread has not hashed yet. */
  #handed = 0;
  #failure: Error | undefined;
  #onFree: () => void = () => {};

  private constructor(running: HashThread) {
    this.#thread = running;
    this.#id = running.open(this.#memory.buffer as SharedArrayBuffer, this);
    count += 1;
    // Whoever asks for it is told.
    this.#digest.promise.catch(() => {});
  }

  /** Begins a stream. `undefined` when there can be none: too many are there, or no thread can be started. */
  static async open(): Promise<HashBeside | undefined> {
    if (count >= MAX_STREAMS) return undefined;
    try {
      if (thread === undefined || thread.isGone) thread = new HashThread();
      const stream = new HashBeside(thread);
      await stream.#opened.promise;
      return stream;
    } catch {
      return undefined;
    }
  }

  /**
   * Takes bytes, and returns a promise when the thread is behind: the next may come when it is fulfilled.
   *
   * @throws {Error} when the thread is gone
   */
  update(bytes: Uint8Array): void | Promise<void> {
    const taken = this.#copy(bytes);
    return taken === bytes.length ? undefined : this.#copyRest(bytes.subarray(taken));
  }

  /** 64 hex digits. Nothing may be added after it. */
  async digest(): Promise<string> {
    const rest = this.#at % BLOCK_BYTES;
    if (rest > 0) this.#thread.hash(this.#id, this.#at - rest, rest);
    if (this.#failure === undefined) this.#thread.end(this.#id);
    return this.#digest.promise;
  }

  onOpen(): void {
    this.#opened.resolve();
  }

  onFree(): void {
    this.#handed -= 1;
    this.#onFree();
  }

  onDigest(sha256: string): void {
    count -= 1;
    this.#digest.resolve(sha256);
  }

  onFailure(error: Error): void {
    count -= 1;
    this.#failure = error;
    this.#opened.reject(error);
    this.#digest.reject(error);
    this.#onFree();
  }

  /** Copies what there is room for, and gives its length. */
  #copy(bytes: Uint8Array): number {
    if (this.#failure !== undefined) throw this.#failure;
    let taken = 0;
    while (taken < bytes.length && this.#handed < BLOCKS) {
      const room = BLOCK_BYTES - (this.#at % BLOCK_BYTES);
      const part = bytes.subarray(taken, taken + room);
      this.#memory.set(part, this.#at);
      this.#at += part.length;
      taken += part.length;
      if (part.length === room) this.#handOver();
    }
    return taken;
  }

  #handOver(): void {
    this.#thread.hash(this.#id, this.#at - BLOCK_BYTES, BLOCK_BYTES);
    this.#handed += 1;
    this.#at %= this.#memory.length;
  }

  async #copyRest(bytes: Uint8Array): Promise<void> {
    for (let taken = 0; taken < bytes.length; taken += this.#copy(bytes.subarray(taken)))
      await new Promise<void>((resolve) => {
        this.#onFree = resolve;
      });
  }
}
