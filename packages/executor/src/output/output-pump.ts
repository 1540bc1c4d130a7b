import type { OutputStream } from "./pipe-reader.ts";
import type { StepLog } from "./step-log.ts";

/** The most bytes that one read of a pipe gives. A read of this size may have cut a text that the process wrote in one go. */
const FULL_READ_BYTES = 64 * 1024;
const LINE_FEED = 10;

const MUTE_POLL_MS = 10;

/** The output of one process. */
export interface OutputStreams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

/** Carries what a process prints to the log, no faster than the log takes it. */
export class OutputPump {
  /** Fulfilled when both streams are at their end and everything is written. */
  readonly ended: Promise<void>;
  /** The number of bytes that came so far. */
  bytes = 0;
  isEnded = false;
  /** The number of streams that came to their end and were not given up. */
  #drained = 0;
  /** The error that the log threw, after which nothing is written. `undefined` while there is none. */
  failure: { readonly error: unknown } | undefined;
  readonly #log: StepLog;
  readonly #streams: readonly OutputStream[];
  readonly #onFailure: () => void;
  #open = 2;
  #writing = 0;
  #isMuted = false;
  #end: () => void = () => {};

  constructor(log: StepLog, streams: OutputStreams, onFailure: () => void) {
    this.#log = log;
    this.#onFailure = onFailure;
    this.#streams = [streams.stdout, streams.stderr];
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#carry(streams.stdout, "stdout");
    this.#carry(streams.stderr, "stderr");
  }

  /** Whether the log is still busy with a chunk. */
  get isWriting(): boolean {
    return this.#writing > 0;
  }

  /** Whether both streams came to their end and are closed: nobody holds a writing end any more. */
  get isDrained(): boolean {
    return this.#open === 0 && this.#drained === this.#streams.length;
  }

  /**
   * Writes no more, and goes on reading, so that whoever still prints is not stopped by it. Fulfilled when all that came before is
   * written.
   */
  async mute(): Promise<void> {
    this.#isMuted = true;
    while (this.#writing > 0) await new Promise((resolve) => setTimeout(resolve, MUTE_POLL_MS));
  }

  /** Takes at once what an ended process has left. */
  settle(): void {
    for (const stream of this.#streams) stream.settle?.();
  }

  /** Gives up what has not come yet. */
  destroy(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  #carry(stream: OutputStream, name: "stdout" | "stderr"): void {
    let cut: Uint8Array | undefined;
    stream.on("data", (chunk: Uint8Array) => {
      this.bytes += chunk.byteLength;
      const data = cut === undefined ? chunk : Buffer.concat([cut, chunk]);
      // The rest of a line that a full read has cut comes with the next: nothing of the other stream gets between.
      const end =
        chunk.byteLength < FULL_READ_BYTES ? data.byteLength : data.lastIndexOf(LINE_FEED) + 1 || data.byteLength;
      cut = end === data.byteLength ? undefined : Uint8Array.from(data.subarray(end));
      this.#write(stream, name, data.subarray(0, end));
    });
    // A broken pipe is an ended one; `close` follows.
    stream.on("error", () => {});
    stream.on("end", () => {
      this.#drained += 1;
    });
    stream.on("close", () => {
      if (cut !== undefined) this.#write(stream, name, cut);
      this.#open -= 1;
      this.#settle();
    });
  }

  #write(stream: OutputStream, name: "stdout" | "stderr", chunk: Uint8Array): void {
    if (this.failure || this.#isMuted) return;
    try {
      const written = this.#log.write(name, chunk);
      if (written === undefined) return;
      stream.pause();
      this.#writing += 1;
      void written
        .catch((error: unknown) => this.#fail(error))
        .then(() => {
          this.#writing -= 1;
          stream.resume();
          this.#settle();
        });
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.failure) return;
    this.failure = { error };
    this.#onFailure();
  }

  #settle(): void {
    if (this.#open > 0 || this.#writing > 0) return;
    this.isEnded = true;
    this.#end();
  }
}
