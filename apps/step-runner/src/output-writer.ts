import { writeSync } from "node:fs";

const RETRY_MS = 2;

/**
 * Writes bytes to a descriptor of ours, in order, at the reader's pace. A reader that went away (`| head`) is not an
 * error: the job goes on and its output goes to the log alone.
 */
export class OutputWriter {
  readonly #fd: number;
  #isClosed = false;
  #pending: Promise<void> | undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** A promise means that the reader is behind. */
  write(chunk: Uint8Array): void | Promise<void> {
    if (this.#isClosed) return undefined;
    if (this.#pending !== undefined) return this.#follow(Uint8Array.from(chunk));
    const written = this.#attempt(chunk);
    return written < chunk.length ? this.#follow(Uint8Array.from(chunk.subarray(written))) : undefined;
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
    for (let at = 0; at < chunk.length && !this.#isClosed;) {
      const written = this.#attempt(chunk.subarray(at));
      if (written === 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      at += written;
    }
  }

  // Our standard output may be a pipe or terminal that another program set to non-blocking.
  #attempt(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length) {
      try {
        at += writeSync(this.#fd, chunk, at);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "EAGAIN") return at;
        if (code !== "EPIPE" && code !== "EIO") throw error;
        this.#isClosed = true;
        return chunk.length;
      }
    }
    return at;
  }
}
