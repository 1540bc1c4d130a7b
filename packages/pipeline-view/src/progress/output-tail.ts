const MAX_BYTES = 8 * 1024;
/** More steps than this do not run at the same time and fail together. */
const MAX_STEPS = 256;

/** The end of what each step has written, as far as a message about its failure wants it. */
export class OutputTail {
  readonly #tails = new Map<string, Buffer>();
  #last: string | undefined;

  /** Takes a piece of output. */
  add(path: string, chunk: Uint8Array): void {
    const before = this.#tails.get(path);
    const end = chunk.subarray(-MAX_BYTES);
    const joined = before === undefined ? Buffer.from(end) : Buffer.concat([before, end]).subarray(-MAX_BYTES);
    this.#tails.delete(path);
    this.#tails.set(path, joined);
    const [oldest] = this.#tails.keys();
    if (this.#tails.size > MAX_STEPS && oldest !== undefined) this.#tails.delete(oldest);
    this.#last = path;
  }

  /** The end of the output of a step; empty if it wrote nothing. */
  textOf(path: string): string {
    return this.#tails.get(path)?.toString("utf8") ?? "";
  }

  /** Whether no other step has written since the step did. */
  isLast(path: string): boolean {
    return this.#last === path;
  }
}
