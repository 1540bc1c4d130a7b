import type { OutputWriter } from "@steps/console/terminal";

const LINE_FEED = 10;
/** A line that is longer is shown in parts, so that a job without line feeds cannot fill the memory. */
const MAX_LINE_BYTES = 64 * 1024;

/** Writes the output of one of several jobs: whole lines, each behind the name of its job. */
export class LinePrefix {
  readonly #writer: Pick<OutputWriter, "write">;
  readonly #prefix: Uint8Array;
  #rest: Uint8Array[] = [];
  #restBytes = 0;

  constructor(writer: Pick<OutputWriter, "write">, prefix: string) {
    this.#writer = writer;
    this.#prefix = Buffer.from(prefix);
  }

  /** Takes a piece of the output; a promise means that the reader is behind. */
  write(chunk: Uint8Array): void | Promise<void> {
    const pieces: Uint8Array[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      pieces.push(this.#prefix, ...this.#rest, chunk.subarray(start, end + 1));
      this.#rest = [];
      this.#restBytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(Uint8Array.from(chunk.subarray(start)));
    if (this.#restBytes > MAX_LINE_BYTES) pieces.push(...this.#takeRest());
    return pieces.length === 0 ? undefined : this.#writer.write(Buffer.concat(pieces));
  }

  /** Writes what is left of the last line, and ends it. */
  end(): void | Promise<void> {
    if (this.#restBytes > 0) return this.#writer.write(Buffer.concat(this.#takeRest()));
  }

  #keep(piece: Uint8Array): void {
    this.#rest.push(piece);
    this.#restBytes += piece.length;
  }

  #takeRest(): Uint8Array[] {
    const taken = [this.#prefix, ...this.#rest, Buffer.from("\n")];
    this.#rest = [];
    this.#restBytes = 0;
    return taken;
  }
}
