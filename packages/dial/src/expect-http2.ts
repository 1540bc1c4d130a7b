import { Duplex } from "node:stream";
import { DialError } from "./dial-error.ts";

const HEADER_BYTES = 9;
const MAX_TEXT_BYTES = 4096;
const TEXT_TIMEOUT_MS = 500;
const HEADER_TIMEOUT_MS = 3000;

/**
 * Passes a stream through unchanged, after a look at the first bytes that arrive: an HTTP/2 server starts with a SETTINGS
 * frame on stream 0 (RFC 9113, 3.4). Whatever else comes (the usage of a wrong program, "OCI runtime exec failed…", a shell's
 * greeting) is collected, up to 4 KiB and half a second, and given to `explain`, whose error destroys the stream; so is the
 * empty text of a stream that ends without a byte, and the message of one that fails first (a {@link DialError} of the stream
 * itself is kept). Nothing is read before the result is. Back-pressure holds both ways, chunks are not copied, destroying
 * either destroys the other.
 */
export function expectHttp2(stream: Duplex, explain: Explain): Duplex {
  return new ExpectingDuplex(stream, explain);
}

/** Makes an error of what arrived instead of HTTP/2 (up to 4 KiB, empty when nothing did). */
export type Explain = (text: string) => DialError | Promise<DialError>;

/**
 * Waits until an HTTP/2 server has shown itself, and gives back the very stream with the bytes put back, so that a socket stays
 * a socket. Rejects with what `explain` makes of anything else, the stream destroyed. Servers need not speak first: after
 * `silenceMs` (3 s) without a byte the stream is given wrapped by {@link expectHttp2}, and the look happens later. An aborted
 * `signal` destroys the stream and rejects with its reason.
 */
export async function untilHttp2(
  stream: Duplex,
  explain: Explain,
  options: { signal: AbortSignal; silenceMs?: number },
): Promise<Duplex> {
  const guard = new ExpectingDuplex(stream, explain);
  const { promise, resolve, reject } = Promise.withResolvers<"answer" | "silence">();
  const onReadable = (): void => resolve("answer");
  const onAbort = (): void => {
    guard.destroy();
    reject(options.signal.reason);
  };
  const timer = setTimeout(() => guard.isSilent && resolve("silence"), options.silenceMs ?? 3000);
  const onClose = (): void => reject(new DialError("UNREACHABLE", "The connection was closed at once"));
  guard.once("error", reject).once("close", onClose).on("readable", onReadable);
  options.signal.addEventListener("abort", onAbort);
  try {
    if (options.signal.aborted) onAbort();
    return (await promise) === "answer" ? guard.release() : guard;
  } finally {
    clearTimeout(timer);
    guard.off("error", reject).off("close", onClose).off("readable", onReadable);
    options.signal.removeEventListener("abort", onAbort);
  }
}

// Length (its first byte is 0: a first frame has at most 16 KiB), type, flags, stream.
const SETTINGS_HEADER: readonly (number | undefined)[] = [0, undefined, undefined, 4, undefined, 0, 0, 0, 0];

/** Whether these bytes may be the start of the frame, as far as they go. */
function mayBeSettings(head: Uint8Array): boolean {
  return SETTINGS_HEADER.every((expected, at) => expected === undefined || at >= head.length || head[at] === expected);
}

class ExpectingDuplex extends Duplex {
  readonly #inner: Duplex;
  readonly #explain: Explain;
  #state: "looking" | "collecting" | "explaining" | "open" = "looking";
  #held: Buffer[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #afterDrain: ((error?: Error | null) => void) | undefined;

  readonly #listeners = {
    data: (chunk: Buffer): void => this.#onData(chunk),
    drain: (): void => this.#drained(),
    end: (): void => this.#onEnd(),
    error: (error: Error): void => this.#onError(error),
    close: (): void => this.#onClose(),
  };

  constructor(inner: Duplex, explain: Explain) {
    super({ allowHalfOpen: true });
    this.#inner = inner;
    this.#explain = explain;
    inner.pause();
    for (const [event, listener] of Object.entries(this.#listeners)) inner.on(event, listener);
    if (inner.destroyed || inner.readableEnded) setImmediate(() => this.#onClose());
  }

  /** True while nothing has arrived. */
  get isSilent(): boolean {
    return this.#state === "looking" && this.#heldBytes === 0;
  }

  /** The inner stream as if nobody had looked, or this one when that is no longer possible. */
  release(): Duplex {
    const inner = this.#inner;
    if (this.#state !== "open" || inner.readableEnded || inner.destroyed) return this;
    inner.pause();
    for (const [event, listener] of Object.entries(this.#listeners)) inner.off(event, listener);
    const read = this.read() as Buffer | null;
    if (read !== null) inner.unshift(read);
    // The only public way back from "paused" to "nobody has decided yet", where a listener for data starts the flow.
    const nothing = (): void => undefined;
    inner.on("readable", nothing).off("readable", nothing);
    return inner;
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
    if (this.#state === "looking") this.#look();
    if (this.#state === "collecting" && this.#heldBytes >= MAX_TEXT_BYTES) this.#fail();
  }

  #look(): void {
    const head = Buffer.concat(this.#held);
    if (!mayBeSettings(head)) {
      this.#state = "collecting";
      this.#failAfter(TEXT_TIMEOUT_MS);
    } else if (head.length >= HEADER_BYTES) {
      this.#state = "open";
      clearTimeout(this.#timer);
      this.#held = [];
      this.#pass(head);
    } else this.#failAfter(HEADER_TIMEOUT_MS);
  }

  #failAfter(timeoutMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(), timeoutMs);
  }

  /** Asks for the reason, and ends with it. */
  #fail(reason = ""): void {
    if (this.#state === "explaining" || this.destroyed) return;
    this.#state = "explaining";
    clearTimeout(this.#timer);
    const text = Buffer.concat(this.#held).subarray(0, MAX_TEXT_BYTES).toString();
    this.#held = [];
    this.#inner.resume(); // The rest is read and dropped, so that the sender can end: its end is part of the reason.
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
    // Bytes that are written while the reason is being found are dropped: a broken pipe must not hide the reason.
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
