import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The most requests that may wait on one connection. Hardly any client sends one ahead, and each takes memory. */
const MAX_WAITING = 16;

/** Answers a request. */
type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Lets the requests of one connection wait for each other. Node hands out all that a client sends ahead at once, and one connection
 * could have thousands of them at a pod.
 */
export class RequestLine {
  readonly #serve: Serve;
  /** The requests that wait, for each connection that has one under way. */
  readonly #waiting = new WeakMap<Socket, Parameters<Serve>[]>();
  readonly #underWay = new Set<ServerResponse>();
  #isLast = false;

  constructor(serve: Serve) {
    this.#serve = serve;
  }

  /** Whether a request of the connection is under way. */
  isBusy(socket: Socket): boolean {
    return this.#waiting.has(socket);
  }

  /** Lets connections end with the answers that are under way: clients that go on asking would never be done. */
  end(): void {
    this.#isLast = true;
    for (const response of this.#underWay) response.shouldKeepAlive = false;
  }

  /** Has a request answered when those before it are. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) {
      this.#waiting.set(socket, []);
      this.#begin(request, response);
      return;
    }
    // Reading goes on meanwhile: it tells when the client leaves.
    if (waiting.push([request, response]) > MAX_WAITING) socket.destroy();
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    this.#underWay.add(response);
    if (this.#isLast) response.shouldKeepAlive = false;
    response.once("close", () => {
      this.#underWay.delete(response);
      this.#goOn(request.socket);
    });
    this.#serve(request, response);
  }

  #goOn(socket: Socket): void {
    // An answer may have begun before its connection was to end with it, and did not say so.
    if (this.#isLast) socket.destroySoon();
    const waiting = this.#waiting.get(socket) ?? [];
    const next = socket.destroyed || this.#isLast ? undefined : waiting.shift();
    if (next === undefined) {
      this.#waiting.delete(socket);
      return;
    }
    this.#begin(...next);
  }
}
