import { createSha256, type Sha256 } from "../runtime/crypto.ts";
import { HashBeside } from "./hash-beside.ts";
import { KeptBytes } from "./kept-bytes.ts";

/** A stream of fewer bytes is hashed when it ends, which takes five milliseconds or so. */
const LARGE_BYTES = 2 * 1024 * 1024;
/** All streams of this process keep 16 MiB at most until they are large. */
const MAX_PIECES = 64;

/**
 * The SHA-256 of a stream of bytes. A long one is hashed by another thread, since that takes longer than all else that is done with
 * its bytes; where there can be no such thread, by this one.
 */
export class StreamHash {
  /** The bytes of a stream that is not large yet. */
  readonly #kept = new KeptBytes();
  #hash: Sha256 | undefined;
  #beside: HashBeside | undefined;
  /** The last bytes that had to wait. */
  #waiting: Promise<void> | undefined;

  /**
   * Takes bytes, of which nothing is needed afterwards unless there is a promise; then the next may come when it is fulfilled.
   *
   * @throws {Error} when the thread is gone, as an earlier part of the stream is then
   */
  update(bytes: Uint8Array): void | Promise<void> {
    if (this.#hash !== undefined) return void this.#hash.update(bytes);
    const isLarge = this.#beside !== undefined || this.#kept.length + bytes.length >= LARGE_BYTES;
    if (!isLarge) return this.#kept.add(bytes, MAX_PIECES) ? undefined : this.#hashHere(bytes);
    const waiting = this.#beside === undefined ? this.#hashBeside(bytes) : this.#beside.update(bytes);
    if (waiting !== undefined) this.#waiting = waiting;
    return waiting;
  }

  /** 64 hex digits. Nothing may be added after it. */
  async digest(): Promise<string> {
    await this.#waiting;
    if (this.#beside !== undefined) return this.#beside.digest();
    return (this.#hash ?? this.#begin()).digest("hex");
  }

  #hashHere(bytes: Uint8Array): void {
    this.#hash = this.#begin();
    this.#hash.update(bytes);
  }

  #begin(): Sha256 {
    const hash = createSha256();
    this.#kept.release((piece) => void hash.update(piece));
    return hash;
  }

  async #hashBeside(bytes: Uint8Array): Promise<void> {
    const beside = await HashBeside.open();
    if (beside === undefined) return this.#hashHere(bytes);
    this.#beside = beside;
    // They are fewer than LARGE_BYTES, for which the shared memory has room: nothing waits.
    this.#kept.release((piece) => void beside.update(piece));
    await beside.update(bytes);
  }
}
