import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { RequestHandler } from "../request/request-handler.ts";

const GREETING_MS = 10_000;
const HANG_UP_MS = 500;
// The window of a stream is no smaller than that of its session: Bun gives room to a stream again once half of the session's is used.
const WINDOW_BYTES = 4 * 1024 * 1024;
const MAX_STREAMS = 1024;
/** Each of the jobs that run at once may have some followers, on a connection each. */
export const MAX_CONNECTIONS = 4096;
const MAX_HEADER_BYTES = 64 * 1024;

/** An HTTP/2 server without TLS, and the connections that it has. */
export interface Connections {
  readonly server: Http2Server;
  /** The number of connections that are open. */
  count(): number;
  /** Tells every client that no new calls are taken; connections end with their last call. */
  goAway(): void;
  /** Resolves when the last connection has ended. */
  ended(): Promise<void>;
  /** Ends what is left. */
  destroy(): void;
}

/** Makes a server whose connections cannot hurt one another. A connection that speaks something else than HTTP/2 ends. */
export function createConnections(handle: RequestHandler): Connections {
  const server = createServer({
    settings: {
      initialWindowSize: WINDOW_BYTES,
      maxConcurrentStreams: MAX_STREAMS,
      maxHeaderListSize: MAX_HEADER_BYTES,
      enablePush: false,
    },
    maxHeaderListPairs: 200,
    // In MiB: what all streams of one connection may hold in memory.
    maxSessionMemory: 64,
  });
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  const settle = (): void => {
    if (sockets.size > 0) return;
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    // All is said. A client that does not hang up then is not waited for.
    socket.once("finish", () => setTimeout(() => socket.destroy(), HANG_UP_MS).unref());
    socket.once("close", () => {
      sockets.delete(socket);
      settle();
    });
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    watchSession(session);
  });
  server.on("request", handle);
  return {
    server,
    count: () => sockets.size,
    goAway: () => {
      for (const session of sessions) session.close();
    },
    ended: () => new Promise<void>((resolve) => (sockets.size === 0 ? resolve() : void waiting.add(resolve))),
    destroy: () => {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function watchSession(session: ServerHttp2Session): void {
  session.on("error", () => session.destroy());
  // Whoever speaks HTTP/2 sends its settings first.
  const timer = setTimeout(() => session.destroy(), GREETING_MS).unref();
  session.once("remoteSettings", () => clearTimeout(timer));
  session.once("close", () => clearTimeout(timer));
  if (!session.destroyed) session.setLocalWindowSize(WINDOW_BYTES);
  session.on("stream", (stream) => stream.on("error", () => undefined));
}
