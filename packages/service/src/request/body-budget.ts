import { Code, ConnectError } from "@connectrpc/connect";

/**
 * The memory for all requests that are being read or answered. Four of the largest fit; those of 200 jobs at once take
 * some MiB.
 */
const MAX_BYTES = 256 * 1024 * 1024;
const FIRST_BLOCK_BYTES = 4 * 1024;
const MAX_BLOCK_BYTES = 1024 * 1024;

/** Counts the memory that requests hold together, however many connections and calls they arrive by. */
export class BodyBudget {
  #bytes = 0;

  /** Room for one request, which counts until it is given back. */
  open(): BodyRoom {
    return new BodyRoom((bytes) => {
      this.#bytes += bytes;
      return this.#bytes <= MAX_BYTES;
    });
  }
}

/**
 * Keeps the bytes of a request. They are copied as they come: what a peer sends in pieces of one byte would be kept in
 * objects a hundred times their size.
 */
export class BodyRoom implements Disposable {
  readonly #count: (bytes: number) => boolean;
  #blocks: Buffer[] = [];
  #counted = 0;
  /** How much of the last block is used. */
  #used = 0;
  #length = 0;

  constructor(count: (bytes: number) => boolean) {
    this.#count = count;
  }

  /** How many bytes are here to be taken. */
  get length(): number {
    return this.#length;
  }

  /** @throws {ConnectError} RESOURCE_EXHAUSTED where requests hold too much together */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      const block = this.#blockWithRoom();
      const piece = chunk.subarray(at, at + block.length - this.#used);
      block.set(piece, this.#used);
      this.#used += piece.length;
      at += piece.length;
    }
    this.#length += chunk.length;
  }

  #blockWithRoom(): Buffer {
    const last = this.#blocks.at(-1);
    if (last !== undefined && this.#used < last.length) return last;
    const size = last === undefined ? FIRST_BLOCK_BYTES : Math.min(last.length * 2, MAX_BLOCK_BYTES);
    this.#counted += size;
    if (!this.#count(size)) throw new ConnectError("Too much is asked at once; try again", Code.ResourceExhausted);
    const block = Buffer.allocUnsafeSlow(size);
    this.#blocks.push(block);
    this.#used = 0;
    return block;
  }

  /** All bytes in one piece. They count until the room is given back; nothing is kept here. */
  take(): Buffer {
    const whole = Buffer.concat(this.#blocks, this.#length);
    this.#blocks = [];
    this.#length = this.#used = 0;
    return whole;
  }

  [Symbol.dispose](): void {
    this.#count(-this.#counted);
    this.#counted = 0;
    this.#blocks = [];
    this.#length = this.#used = 0;
  }
}
