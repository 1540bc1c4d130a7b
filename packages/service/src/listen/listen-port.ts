import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Service } from "../create-service.ts";
import { ServiceError } from "../service-error.ts";
import { createConnections } from "./connections.ts";
import type { Listener } from "./listener.ts";
import { guardPort, isLoopbackHost } from "./port-guard.ts";
import type { RequestHandler } from "./request-handler.ts";

/** Where and for whom a service listens on TCP. */
export interface PortOptions {
  /** 0 for one that is free. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** What calls carry as `authorization: Bearer …`; `undefined` asks for nothing. */
  readonly token: string | undefined;
}

const GREETING_MS = 10_000;
const MAX_CONNECTIONS = 1024;
const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Serves on TCP, without TLS: gRPC over HTTP/2, and Connect and gRPC-Web over HTTP/1.1 too, all on one port.
 *
 * @throws {ServiceError} SOCKET_IN_USE if the port is taken; SOCKET_UNUSABLE
 */
export async function listenPort(service: Service, options: PortOptions): Promise<Listener> {
  const { port, host = "127.0.0.1", token } = options;
  const isLoopback = isLoopbackHost(host.includes(":") ? `[${host}]` : host);
  const handle = guardPort(service.handle, { token, isLoopback });
  const connections = createConnections(handle);
  const old = createHttpConnections(handle);
  const server = createServer({ noDelay: true }, (socket) =>
    sniff(socket, (isHttp2) => (isHttp2 ? connections.server.emit("connection", socket) : old.take(socket))),
  );
  server.maxConnections = MAX_CONNECTIONS;
  await bind(server, port, host);
  server.on("error", (error: NodeJS.ErrnoException) => service.log(`A connection was not taken: ${error.code}`));
  const { port: bound, address } = server.address() as AddressInfo;
  const ended = async (): Promise<void> => {
    await Promise.all([connections.ended(), old.ended()]);
  };
  return {
    address: `http://${address.includes(":") ? `[${address}]` : address}:${bound}`,
    refuse: () => {
      server.close();
      connections.goAway();
      old.goAway();
    },
    ended,
    destroy: async () => {
      server.close();
      connections.destroy();
      old.destroy();
      await ended();
    },
  };
}

async function bind(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException): void => {
      const code = cause.code === "EADDRINUSE" ? "SOCKET_IN_USE" : "SOCKET_UNUSABLE";
      reject(new ServiceError(code, `Cannot listen on port ${port} of "${host}": ${cause.code}`, { cause }));
    };
    server.once("error", fail);
    server.listen({ port, host }, () => {
      server.off("error", fail);
      resolve();
    });
  });
}

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

// What a connection speaks is in its first bytes; they are put back before it is handed on.
function sniff(socket: Socket, handOver: (isHttp2: boolean) => void): void {
  let head = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), GREETING_MS).unref();
  const look = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    head = Buffer.concat([head, chunk]);
    const isHttp2 = head.subarray(0, PREFACE.length).equals(PREFACE.subarray(0, head.length));
    if (isHttp2 && head.length < PREFACE.length) return;
    clearTimeout(timer);
    socket.off("readable", look);
    socket.unshift(head);
    handOver(isHttp2);
  };
  socket.on("error", () => socket.destroy());
  socket.once("end", () => socket.destroy());
  socket.once("close", () => clearTimeout(timer));
  socket.on("readable", look);
}

interface HttpConnections {
  take(socket: Socket): void;
  goAway(): void;
  ended(): Promise<void>;
  destroy(): void;
}

// A server of HTTP/1.1 that never listens itself, so it knows of its connections only what it is told here.
function createHttpConnections(handle: RequestHandler): HttpConnections {
  const server = createHttpServer({ maxHeaderSize: MAX_HEADER_BYTES });
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
      const timer = setTimeout(() => calls.get(socket) === 0 && socket.destroy(), GREETING_MS).unref();
      socket.once("close", () => {
        clearTimeout(timer);
        calls.delete(socket);
        if (calls.size > 0) return;
        for (const resolve of waiting) resolve();
        waiting.clear();
      });
      server.emit("connection", socket);
    },
    goAway: () => {
      isStopping = true;
      for (const [socket, running] of calls) if (running === 0) socket.destroy();
    },
    ended: () => new Promise<void>((resolve) => (calls.size === 0 ? resolve() : void waiting.add(resolve))),
    destroy: () => {
      for (const socket of calls.keys()) socket.destroy();
    },
  };
}
