const FIRST_BYTES = 4096;
const PIECE_BYTES = 256 * 1024;
/** Pieces that wait for the next stream: memory that is given back is there again much later. */
const MAX_SPARE = 8;

const spare: Buffer[] = [];
let countOfAll = 0;

/** A copy of the first bytes of a stream. */
export class KeptBytes {
  readonly #pieces: Buffer[] = [];
  /** How many bytes of the last piece are used. */
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Copies bytes, unless all streams together would keep more than `maxPieces` pieces of 256 KiB; says whether it did. */
  add(bytes: Uint8Array, maxPieces: number): boolean {
    const room = (this.#pieces.at(-1)?.length ?? 0) - this.#used;
    const pieces = Math.ceil((bytes.length - room) / PIECE_BYTES);
    if (bytes.length > room && countOfAll + pieces > maxPieces) return false;
    for (let at = 0; at < bytes.length;) at += this.#copy(bytes.subarray(at));
    return true;
  }

  /** Hands all of it over, in order; the pieces may be used again when `take` has returned. */
  release(take: (bytes: Uint8Array) => void): void {
    for (const [i, piece] of this.#pieces.entries())
      take(i === this.#pieces.length - 1 ? piece.subarray(0, this.#used) : piece);
    for (const piece of this.#pieces.splice(0)) {
      if (piece.length < PIECE_BYTES) continue;
      countOfAll -= 1;
      if (spare.length < MAX_SPARE) spare.push(piece);
    }
    this.#used = 0;
    this.#length = 0;
  }

  #copy(bytes: Uint8Array): number {
    let piece = this.#pieces.at(-1);
    if (piece === undefined || this.#used === piece.length) {
      piece = this.#next(bytes.length);
      this.#pieces.push(piece);
      this.#used = 0;
    }
    const part = bytes.subarray(0, piece.length - this.#used);
    piece.set(part, this.#used);
    this.#used += part.length;
    this.#length += part.length;
    return part.length;
  }

  #next(wanted: number): Buffer {
    if (this.#pieces.length === 0 && wanted <= FIRST_BYTES) return Buffer.allocUnsafeSlow(FIRST_BYTES);
    countOfAll += 1;
    return spare.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
  }
}
