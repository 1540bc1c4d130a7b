import type { Socket } from "node:net";
import { type AnswerParts, AnswerReader } from "./answer-reader.ts";

/** Takes what happens to one request on its connection. Nothing follows `onEnd`, `onFailure` or `destroy()`. */
export interface PodCall extends AnswerParts {
  /** The pod cannot be reached, breaks off, or is silent; or the rest of the request is missing for as long. */
  readonly onFailure: (of: "pod" | "client") => void;
  /** The connection takes bytes again. */
  readonly onDrain: () => void;
}

/** A connection is used again for so many seconds if its pod does not say how long it keeps it. */
const IDLE_SECONDS = 4;

/** A connection to a pod, for one request after the other. */
export class PodSocket {
  readonly #socket: Socket;
  readonly #idleTimeoutMs: number;
  readonly #onFree: (isReusable: boolean) => void;
  #reader: AnswerReader | undefined;
  #call: PodCall | undefined;
  #isSent = false;
  #usableUntil = 0;

  /** `onFree` is called when a request is over: the connection may be used again, or it is gone. */
  constructor(
    socket: Socket,
    {
      idleTimeoutMs,
      onFree,
    }: { readonly idleTimeoutMs: number; readonly onFree: (pod: PodSocket, isReusable: boolean) => void },
  ) {
    this.#socket = socket;
    this.#idleTimeoutMs = idleTimeoutMs;
    socket.setTimeout(idleTimeoutMs);
    this.#onFree = (isReusable) => onFree(this, isReusable);
    socket.setNoDelay(true);
    socket.on("data", (bytes: Buffer) => this.#read(bytes));
    socket.on("drain", () => this.#call?.onDrain());
    socket.on("end", () => this.#close());
    // A pod that has taken all there is waits for the client.
    socket.on("timeout", () => this.#fail(this.#isSent || socket.writableLength > 0 ? "pod" : "client"));
    socket.on("error", () => this.#fail());
    socket.on("close", () => this.#fail());
  }

  /** Whether the pod still keeps the connection, as far as can be known. */
  get isUsable(): boolean {
    return !this.#socket.destroyed && this.#usableUntil > performance.now();
  }

  /** Begins a request. The rest of it follows by `write()`; `finish()` ends it. */
  begin(method: string, call: PodCall): void {
    this.#call = call;
    this.#isSent = false;
    const { onHead, onBytes } = call;
    this.#reader = new AnswerReader(method, { onHead, onBytes, onEnd: () => this.#end() });
  }

  /** Holds back what is written until `uncork()`, so that it leaves together. */
  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  /** Writes a part of the request. Gives false when the rest should wait for `onDrain`. */
  write(bytes: Buffer | string): boolean {
    return typeof bytes === "string" ? this.#socket.write(bytes, "latin1") : this.#socket.write(bytes);
  }

  /** The request is whole. */
  finish(): void {
    this.#isSent = true;
  }

  /** Reads no more of the answer, or goes on. A pod that is not read is not silent: its client may be slow, and has a limit itself. */
  pause(): void {
    this.#socket.setTimeout(0).pause();
  }

  resume(): void {
    this.#socket.setTimeout(this.#idleTimeoutMs).resume();
  }

  /** Gives the connection up, with the request on it. */
  destroy(): void {
    this.#call = undefined;
    this.#socket.destroy();
    this.#release(false);
  }

  #read(bytes: Buffer): void {
    // Nobody asked: the connection is not in order.
    if (this.#reader === undefined) return this.destroy();
    try {
      this.#reader.read(bytes);
    } catch {
      this.#fail();
    }
  }

  /** The pod sends no more. */
  #close(): void {
    if (this.#reader?.close() !== true) this.#fail();
    this.destroy();
  }

  #end(): void {
    const reader = this.#reader;
    const call = this.#call;
    this.#call = undefined;
    // The end may stand before the last of these bytes: what follows is none of this answer.
    queueMicrotask(() => {
      const isReusable = this.#isSent && reader?.keepsAlive === true && !this.#socket.destroyed;
      if (isReusable) this.#usableUntil = performance.now() + ((reader.idleSeconds ?? IDLE_SECONDS + 1) - 1) * 1000;
      else this.#socket.destroy();
      // An answer may have ended while its client was slow. What comes without a request is read, and ends the connection.
      this.resume();
      this.#release(isReusable);
    });
    call?.onEnd();
  }

  #fail(of: "pod" | "client" = "pod"): void {
    const call = this.#call;
    this.destroy();
    call?.onFailure(of);
  }

  #release(isReusable: boolean): void {
    if (this.#reader === undefined) return;
    this.#reader = undefined;
    this.#onFree(isReusable);
  }
}
