import { createServer } from "node:http";
import type { Socket } from "node:net";
import type { RequestHandler } from "../request/request-handler.ts";

const MAX_HEADER_BYTES = 64 * 1024;
/** How long the header of a request may take to arrive, the first or any later. */
const HEADERS_MS = 10_000;
/** The whole of a request: 64 MiB at 220 KB/s. */
const REQUEST_MS = 300_000;

/** A server of HTTP/1.1 and the connections that it was given. */
export interface HttpConnections {
  take(socket: Socket): void;
  /** Ends connections with their last call. */
  goAway(): void;
  /** Resolves when the last connection has ended. */
  ended(): Promise<void>;
  /** Ends what is left. */
  destroy(): void;
}

/** Makes a server that never listens itself, so it knows of its connections only what it is told. */
export function createHttpConnections(
  handle: RequestHandler,
  { headersMs = HEADERS_MS }: { readonly headersMs?: number } = {},
): HttpConnections {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersMs,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: headersMs / 2,
  });
  // Node watches over the time that requests take only where a server listens.
  server.emit("listening");
  const calls = new Map<Socket, number>();
  const waiting = new Set<() => void>();
  let isStopping = false;
  const count = (socket: Socket, change: number): void => {
    const now = (calls.get(socket) ?? 0) + change;
    if (calls.has(socket)) calls.set(socket, now);
    if (isStopping && now === 0) socket.destroySoon();
  };
  server.on("clientError", (_error, socket) => socket.destroy());
  server.on("request", (request, reply) => {
    count(request.socket, 1);
    reply.once("close", () => count(request.socket, -1));
    handle(request, reply);
  });
  return {
    take: (socket) => {
      calls.set(socket, 0);
      socket.once("close", () => {
        calls.delete(socket);
        if (calls.size > 0) return;
        for (const resolve of waiting) resolve();
        waiting.clear();
      });
      server.emit("connection", socket);
    },
    goAway: () => {
      isStopping = true;
      server.close();
      for (const [socket, running] of calls) if (running === 0) socket.destroy();
    },
    ended: () => new Promise<void>((resolve) => (calls.size === 0 ? resolve() : void waiting.add(resolve))),
    destroy: () => {
      server.close();
      for (const socket of calls.keys()) socket.destroy();
    },
  };
}
