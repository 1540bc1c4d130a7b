import type { Worker } from "node:worker_threads";

/** The bytes of one block; a stream has `BLOCKS` of them in memory that both threads see. */
export const BLOCK_BYTES: number = 256 * 1024;
export const BLOCKS = 8;

/** The news for a stream about the blocks that it handed over. */
export interface HashListener {
  /** The thread is there and has the memory of the stream. */
  onOpen(): void;
  /** The oldest block that was handed over is free again. */
  onFree(): void;
  onDigest(sha256: string): void;
  /** The thread could not be started, or is gone. */
  onFailure(error: Error): void;
}

type Answer =
  | { readonly id: number; readonly type: "open" | "free" }
  | { readonly id: number; readonly type: "digest"; readonly sha256: string };

// A text, so that it needs no file and is in every bundle.
const PROGRAM = `
const { parentPort } = require("node:worker_threads");
const { createHash } = require("node:crypto");
const streams = new Map();
parentPort.on("message", ({ id, type, memory, start, length }) => {
  if (type === "open") {
    streams.set(id, { hash: createHash("sha256"), bytes: new Uint8Array(memory) });
    parentPort.postMessage({ id, type });
    return;
  }
  const { hash, bytes } = streams.get(id);
  if (type === "block") {
    hash.update(bytes.subarray(start, start + length));
    parentPort.postMessage({ id, type: "free" });
    return;
  }
  streams.delete(id);
  parentPort.postMessage({ id, type: "digest", sha256: hash.digest("hex") });
});
`;

/** To start a thread takes longer than to hash a megabyte, and the next step may print as much. */
const IDLE_MS = 2000;

/** A thread that hashes streams beside us. It is there as long as there are streams, and a little longer. */
export class HashThread {
  readonly #worker: Worker;
  readonly #streams = new Map<number, HashListener>();
  #lastId = 0;
  #timer: NodeJS.Timeout | undefined;
  #isGone = false;

  /** @throws {Error} when the system allows no more threads */
  constructor() {
    // Few runs print so much that they need one.
    const threads = process.getBuiltinModule("node:worker_threads");
    this.#worker = new threads.Worker(PROGRAM, { eval: true });
    this.#worker.on("message", (answer: Answer) => this.#take(answer));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("The thread that hashes output has ended")));
  }

  /** Whether it can take no more streams. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Begins a stream and gives its number. @param memory of `BLOCKS` blocks */
  open(memory: SharedArrayBuffer, listener: HashListener): number {
    const id = ++this.#lastId;
    clearTimeout(this.#timer);
    this.#worker.ref();
    this.#streams.set(id, listener);
    this.#tell({ id, type: "open", memory });
    return id;
  }

  hash(id: number, start: number, length: number): void {
    this.#tell({ id, type: "block", start, length });
  }

  end(id: number): void {
    this.#tell({ id, type: "end" });
  }

  #tell(message: Readonly<Record<string, unknown>>): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread has no origin.
    this.#worker.postMessage(message);
  }

  #take(answer: Answer): void {
    const listener = this.#streams.get(answer.id);
    if (answer.type === "digest") {
      this.#streams.delete(answer.id);
      if (this.#streams.size === 0) this.#rest();
      listener?.onDigest(answer.sha256);
    } else if (answer.type === "open") listener?.onOpen();
    else listener?.onFree();
  }

  #rest(): void {
    this.#worker.unref();
    this.#timer = setTimeout(() => {
      this.#isGone = true;
      void this.#worker.terminate();
    }, IDLE_MS).unref();
  }

  #fail(error: Error): void {
    this.#isGone = true;
    clearTimeout(this.#timer);
    const listeners = [...this.#streams.values()];
    this.#streams.clear();
    for (const listener of listeners) listener.onFailure(error);
  }
}
