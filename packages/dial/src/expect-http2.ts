import { Duplex } from "node:stream";
import { DialError } from "./dial-error.ts";

const HEADER_BYTES = 9;
const MAX_TEXT_BYTES = 4096;
const TEXT_TIMEOUT_MS = 500;

/**
 * Passes a stream through unchanged, after a look at the first bytes that arrive: an HTTP/2 server starts with a SETTINGS
 * frame on stream 0 (RFC 9113, 3.4). Whatever else comes (the usage of a wrong program, "OCI runtime exec failed…", a shell's
 * greeting) is collected, up to 4 KiB and half a second, and given to `explain`, whose error destroys the stream; so is the
 * empty text of a stream that ends without a byte, and the message of one that fails first (a {@link DialError} of the stream
 * itself is kept). Nothing is read before the result is. Back-pressure holds both ways, chunks are not copied, destroying
 * either destroys the other.
 */
export function expectHttp2(stream: Duplex, explain: (text: string) => DialError | Promise<DialError>): Duplex {
  return new ExpectingDuplex(stream, explain);
}

/** Whether these bytes may be the start of the frame, as far as they go. */
function mayBeSettings(head: Uint8Array): boolean {
  for (let at = 3; at < Math.min(head.length, HEADER_BYTES); at += 1) {
    if (at !== 4 && head[at] !== (at === 3 ? 4 : 0)) return false;
  }
  return true;
}

class ExpectingDuplex extends Duplex {
  readonly #inner: Duplex;
  readonly #explain: (text: string) => DialError | Promise<DialError>;
  #state: "looking" | "collecting" | "explaining" | "open" = "looking";
  #held: Buffer[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #afterDrain: ((error?: Error | null) => void) | undefined;

  constructor(inner: Duplex, explain: (text: string) => DialError | Promise<DialError>) {
    super({ allowHalfOpen: true });
    this.#inner = inner;
    this.#explain = explain;
    inner.pause();
    inner.on("data", (chunk: Buffer) => this.#onData(chunk));
    inner.on("drain", () => this.#drained());
    inner.on("end", () => this.#onEnd());
    inner.on("error", (error: Error) => this.#onError(error));
    inner.on("close", () => this.#onClose());
    if (inner.destroyed || inner.readableEnded) setImmediate(() => this.#onClose());
  }

  #onData(chunk: Buffer): void {
    if (this.#state === "open") this.#pass(chunk);
    else if (this.#state !== "explaining") this.#hold(chunk);
  }

  #pass(chunk: Buffer): void {
    if (!this.push(chunk)) this.#inner.pause();
  }

  #hold(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#state === "looking") {
      const head = this.#held.length === 1 ? chunk : Buffer.concat(this.#held);
      if (!mayBeSettings(head)) {
        this.#state = "collecting";
        this.#timer = setTimeout(() => this.#fail(), TEXT_TIMEOUT_MS);
      } else if (this.#heldBytes >= HEADER_BYTES) {
        this.#state = "open";
        this.#held = [];
        this.#pass(head);
      }
    }
    if (this.#state === "collecting" && this.#heldBytes >= MAX_TEXT_BYTES) this.#fail();
  }

  /** Asks for the reason, and ends with it. */
  #fail(reason = ""): void {
    if (this.#state === "explaining" || this.destroyed) return;
    this.#state = "explaining";
    clearTimeout(this.#timer);
    const text = Buffer.concat(this.#held).subarray(0, MAX_TEXT_BYTES).toString();
    this.#held = [];
    this.#inner.resume(); // What follows is dropped: a sender that is stuck could not end, and its end is part of the reason.
    void this.#destroyExplained(text === "" ? reason : text);
  }

  async #destroyExplained(text: string): Promise<void> {
    try {
      this.destroy(await this.#explain(text));
    } catch (error) {
      this.destroy(error instanceof Error ? error : new DialError("PROTOCOL", String(error)));
    }
  }

  #onEnd(): void {
    if (this.#state === "open") this.push(null);
    else this.#fail();
  }

  #onError(error: Error): void {
    if (this.#state === "open" || error instanceof DialError) this.destroy(error);
    else this.#fail(error.message);
  }

  #onClose(): void {
    if (this.#state !== "open") return this.#fail();
    if (!this.#inner.readableEnded) this.destroy();
    else this.#drained(new Error("The other side has closed the stream"));
  }

  #drained(error?: Error): void {
    const callback = this.#afterDrain;
    this.#afterDrain = undefined;
    callback?.(error);
  }

  override _read(): void {
    if (this.#state !== "explaining") this.#inner.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    // What is written while the reason is being found goes nowhere: it must not hide the reason behind a broken pipe.
    if (this.#state === "explaining") callback();
    else if (this.#inner.destroyed) callback(new Error("The other side has closed the stream"));
    else if (this.#inner.write(chunk)) callback();
    else this.#afterDrain = callback;
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#inner.end();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#afterDrain = undefined;
    this.#inner.destroy();
    callback(error);
  }
}
