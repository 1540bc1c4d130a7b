import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpError } from "./http-error.ts";

/** The longest time in which a message has to arrive whole. */
const BODY_TIMEOUT_MS = 30_000;
/** The longest time in which a body may end whose answer is known already, and the most bytes of it. */
const DRAIN_MS = 5_000;
const DRAIN_BYTES = 256 * 1024 * 1024;
const CUT = "The body did not arrive whole";

/** A request with the answer to it. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly #query: string;
  // Most calls are answered at once, and nobody asks whether the caller has left.
  #left: AbortController | undefined;
  #hasLeft = false;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
    [this.path, this.#query] = splitOnce(request.url ?? "", "?");
    response.once("close", () => {
      if (response.writableFinished) return;
      this.#hasLeft = true;
      this.#left?.abort();
    });
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#query);
  }

  get headers(): IncomingMessage["headers"] {
    return this.request.headers;
  }

  /** Aborted when the one who asks has gone away before the answer. */
  get left(): AbortSignal {
    this.#left ??= new AbortController();
    if (this.#hasLeft) this.#left.abort();
    return this.#left.signal;
  }

  /** Whether the answer can still reach the one who asked. */
  get isOpen(): boolean {
    return !this.#hasLeft && this.response.socket?.destroyed === false && this.response.socket.writable;
  }

  /** Reads the whole body. @throws {HttpError} 413 when it is longer, 408 when it takes too long */
  async body(maxBytes: number): Promise<Buffer> {
    if (Number(this.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxBytes);
    const { request } = this;
    // A request that is destroyed emits nothing any more: this would wait for ever.
    if (request.destroyed) throw new HttpError(400, CUT);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) reject(tooLarge(maxBytes));
      else chunks.push(chunk);
    };
    const cut = (): void => reject(new HttpError(400, CUT));
    const timer = setTimeout(() => reject(new HttpError(408, "The body takes too long")), BODY_TIMEOUT_MS);
    request.on("data", take).once("end", resolve).once("error", cut).once("close", cut);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      request.off("data", take).off("close", cut);
    }
    return Buffer.concat(chunks);
  }

  /** Answers without a body. */
  empty(status: number, headers: Readonly<Record<string, string>> = {}): void {
    this.#write(status, headers, undefined);
  }

  /** Answers with a JSON text, or with a value that becomes one. */
  json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    this.#write(status, { "content-type": "application/json", ...headers }, Buffer.from(text));
  }

  /** Answers with a text. */
  text(status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
    this.#write(status, { "content-type": "text/plain; charset=utf-8", ...headers }, Buffer.from(text));
  }

  /** Answers with bytes. */
  bytes(status: number, bytes: Buffer, headers: Readonly<Record<string, string>> = {}): void {
    this.#write(status, { "content-type": "application/octet-stream", ...headers }, bytes);
  }

  #write(status: number, headers: Readonly<Record<string, string>>, body: Buffer | undefined): void {
    if (this.response.headersSent || this.response.destroyed) return;
    if (!this.request.complete) this.#drain();
    const length = body === undefined && status === 204 ? {} : { "content-length": String(body?.length ?? 0) };
    this.response.writeHead(status, { ...length, ...headers });
    this.response.end(body);
  }

  /** Passes over what is left of a body. Closed at once, the connection would break before the answer was read. */
  #drain(): void {
    const { request } = this;
    const timer = setTimeout(() => request.socket.destroy(), DRAIN_MS);
    let left = DRAIN_BYTES;
    const passOver = (chunk: Buffer): void => {
      left -= chunk.length;
      if (left < 0) request.socket.destroy();
    };
    request.on("data", passOver).once("close", () => clearTimeout(timer));
    // Whoever read it before may have paused it.
    request.resume();
  }
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `The body is larger than ${maxBytes} bytes`);
}
