import { Code, ConnectError } from "@connectrpc/connect";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import type { Duplex } from "node:stream";
import { reasonOf } from "./reason-of.ts";

/** How many bytes may be under way in one call before its reader has taken them. */
const STREAM_WINDOW_BYTES = 1 << 20;
/**
 * How many bytes may be under way in all calls together. It is larger, so that a log that nobody reads does not hold up
 * the other calls; and less than twice as large, since Bun gives room to a stream again only once half of it is used.
 */
const SESSION_WINDOW_BYTES = 3 << 19;

/**
 * One HTTP/2 session on one stream that the caller dialled. It never dials again: when the stream is gone the session is
 * lost for good, and whoever owns it gets a new one.
 */
export class Http2Session implements Disposable {
  readonly #duplex: Duplex;
  readonly #session: ClientHttp2Session;
  readonly #lost = new AbortController();
  #pinger: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(duplex: Duplex) {
    this.#duplex = duplex;
    const lose = (cause?: Error): void => this.lose("The connection was lost", cause);
    duplex.on("error", lose);
    // A socket says here whether there was an error; the error itself has been told before.
    duplex.on("close", () => lose());
    duplex.on("end", lose);
    this.#session = connect("http://localhost", {
      createConnection: () => duplex,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    });
    this.#session.on("error", lose);
    this.#session.on("close", lose);
    this.#session.on("connect", (session) => {
      if (!session.destroyed) session.setLocalWindowSize(SESSION_WINDOW_BYTES);
    });
    if (duplex.destroyed) lose(duplex.errored ?? undefined);
  }

  /** Aborted when the connection is gone; the reason is a {@link ConnectError} with the code `Unavailable`. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Opens a stream for a call. @throws {ConnectError} `Unavailable` when there is no connection any more */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    this.#lost.signal.throwIfAborted();
    try {
      return this.#session.request(headers);
    } catch (cause) {
      // The peer said that it goes, and takes no new calls.
      this.lose("The service takes no more calls on this connection", cause);
      throw this.#lost.signal.reason;
    }
  }

  /** Asks the peer every so often whether it is there; a peer that does not answer in time is lost. */
  keepAlive(intervalMs: number, timeoutMs: number): void {
    clearInterval(this.#pinger);
    if (this.#lost.signal.aborted) return;
    this.#pinger = setInterval(() => this.#ping(timeoutMs), intervalMs).unref();
  }

  #ping(timeoutMs: number): void {
    if (this.#deadline !== undefined) return;
    let isAnswered = false;
    this.#deadline = setTimeout(() => {
      // If it was we who were busy, the answer has been waiting to be read: give it a turn.
      setImmediate(() =>
        setImmediate(() => {
          if (!isAnswered) this.lose(`The service did not answer for ${timeoutMs / 1000} s`);
        }),
      );
    }, timeoutMs).unref();
    try {
      this.#session.ping(() => {
        isAnswered = true;
        clearTimeout(this.#deadline);
        this.#deadline = undefined;
      });
    } catch (cause) {
      this.lose("The connection was lost", cause);
    }
  }

  /** Ends the session and everything under it. The first reason counts. */
  lose(what: string, cause?: unknown): void {
    if (this.#lost.signal.aborted) return;
    clearInterval(this.#pinger);
    clearTimeout(this.#deadline);
    const message = cause === undefined ? what : `${what}: ${reasonOf(cause)}`;
    this.#lost.abort(new ConnectError(message, Code.Unavailable, undefined, undefined, cause));
    this.#session.destroy();
    this.#duplex.destroy();
  }

  [Symbol.dispose](): void {
    this.lose("The connection was closed");
  }
}
