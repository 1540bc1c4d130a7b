import { Code, ConnectError } from "@connectrpc/connect";
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from "node:http2";
import { toHeaders } from "./to-headers.ts";

/** How much is kept here before the stream is paused; what follows stays in the window of HTTP/2, and then with the peer. */
const HIGH_WATER_BYTES = 256 << 10;

/**
 * One call on a stream of a session: its answer's headers, then its body, part by part.
 *
 * Node's own iterator for a stream begins to listen when it is first used. Over anything other than a socket, a whole
 * answer may have arrived by then, and the iterator takes the `closed` of an HTTP/2 call for a body that broke off
 * ("Premature close"). So all events are listened for from the start, and their outcome is kept.
 */
export class Http2Call {
  /** Rejects with a {@link ConnectError}. */
  readonly response: Promise<IncomingHttpHeaders>;
  readonly trailer: Headers = new Headers();
  readonly #response: PromiseWithResolvers<IncomingHttpHeaders> = Promise.withResolvers();
  readonly #stream: ClientHttp2Stream;
  readonly #chunks: Uint8Array[] = [];
  #head = 0;
  #bytes = 0;
  #header: IncomingHttpHeaders | undefined;
  #isEnded = false;
  #error: ConnectError | undefined;
  #wake: (() => void) | undefined;

  constructor(stream: ClientHttp2Stream, lost: AbortSignal) {
    this.#stream = stream;
    this.response = this.#response.promise;
    const onLost = (): void => this.fail(lost.reason as ConnectError);
    lost.addEventListener("abort", onLost, { once: true });
    // Whoever sends gets it; a call that is cancelled before it is waited for has nobody.
    this.response.catch(() => undefined);
    stream.once("response", (headers) => {
      this.#header = headers;
      this.#response.resolve(headers);
    });
    stream.once("close", () => {
      lost.removeEventListener("abort", onLost);
      this.fail(this.#resetError());
    });
    stream.on("error", () => this.fail(this.#resetError()));
    stream.on("data", (chunk: Uint8Array) => this.#take(chunk));
    stream.once("trailers", (headers) => toHeaders(headers, this.trailer));
    stream.once("end", () => this.#end());
  }

  #take(chunk: Uint8Array): void {
    if (this.#error !== undefined) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= HIGH_WATER_BYTES) this.#stream.pause();
    this.#wake?.();
  }

  #end(): void {
    // A body that ends without a status was cut off, whatever it looks like.
    const isGrpc = this.#header?.["content-type"]?.startsWith("application/grpc") === true;
    if (isGrpc && !this.trailer.has("grpc-status") && this.#header?.["grpc-status"] === undefined) {
      this.fail(new ConnectError("The call was cut off", Code.Unavailable));
      return;
    }
    this.#isEnded = true;
    this.#wake?.();
  }

  #resetError(): ConnectError {
    const code = this.#stream.rstCode ?? constants.NGHTTP2_NO_ERROR;
    return new ConnectError(`The service ended the call without a status (HTTP/2 code ${code})`, Code.Unavailable);
  }

  /** Ends the call; the first reason counts. An answer that has come whole stays one. */
  fail(error: ConnectError): void {
    if (this.#isEnded || this.#error !== undefined) return;
    this.#error = error;
    this.#response.reject(error);
    this.#chunks.length = this.#head = this.#bytes = 0;
    if (!this.#stream.closed) this.#stream.close(constants.NGHTTP2_CANCEL);
    // A stream that waits to be read would never close.
    this.#stream.resume();
    this.#wake?.();
  }

  /** Sends the whole of a request. */
  send(body: Uint8Array): void {
    this.#stream.end(body);
  }

  /** The next part of the body; `undefined` at its end. @throws {ConnectError} */
  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      if (this.#error !== undefined) throw this.#error;
      const chunk = this.shift();
      if (chunk !== undefined || this.#isEnded) return chunk;
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
  }

  /** The next part of the body, if it is there already. */
  shift(): Uint8Array | undefined {
    const chunk = this.#chunks[this.#head];
    if (chunk === undefined) return undefined;
    this.#head++;
    this.#bytes -= chunk.length;
    if (this.#head === this.#chunks.length) this.#chunks.length = this.#head = 0;
    if (this.#bytes === 0 && this.#stream.isPaused()) this.#stream.resume();
    return chunk;
  }
}
