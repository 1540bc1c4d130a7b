import { checkOptionNames, type OptionNames } from "@steps/model";
import { lookup } from "node:dns/promises";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Service } from "../create-service.ts";
import { ServiceError } from "../service-error.ts";
import { createConnections, MAX_CONNECTIONS } from "./connections.ts";
import { createHttpConnections } from "./http-connections.ts";
import type { Listener } from "./listener.ts";
import { guardPort } from "./port-guard.ts";

/** The address at which a service listens on TCP, and the token that it asks for. */
export interface PortOptions {
  /** 0 for one that is free. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** The token that calls carry as `authorization: Bearer …`; when undefined, none is asked for. */
  readonly token: string | undefined;
}

const GREETING_MS = 10_000;

const OPTION_NAMES: OptionNames<PortOptions> = { port: true, host: true, token: true };

/**
 * Serves on TCP, without TLS: gRPC over HTTP/2, and Connect and gRPC-Web over HTTP/1.1 too, all on one port.
 *
 * @throws {ServiceError} SOCKET_IN_USE if the port is taken; SOCKET_UNUSABLE
 */
export async function listenPort(service: Service, options: PortOptions): Promise<Listener> {
  checkOptionNames("listenPort()", options, OPTION_NAMES);
  const { port, host = "127.0.0.1", token } = options;
  const address = await resolveHost(host, port);
  const handle = guardPort(service.handle, { token, host, isLoopback: /^127\.|^::1$/.test(address) });
  const connections = createConnections(handle);
  const old = createHttpConnections(handle);
  const server = createServer({ noDelay: true }, (socket) =>
    sniff(socket, (isHttp2) => (isHttp2 ? connections.server.emit("connection", socket) : old.take(socket))),
  );
  server.maxConnections = MAX_CONNECTIONS;
  let count = 0;
  server.on("connection", (socket) => {
    count += 1;
    socket.once("close", () => (count -= 1));
  });
  await bind(server, { port, host, address });
  server.on("error", (error: NodeJS.ErrnoException) =>
    service.log("error", "A connection was not taken", { reason: error.code }),
  );
  const { port: bound } = server.address() as AddressInfo;
  const ended = async (): Promise<void> => {
    await Promise.all([connections.ended(), old.ended()]);
  };
  return {
    address: `http://${address.includes(":") ? `[${address}]` : address}:${bound}`,
    connectionCount: () => count,
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

interface Place {
  readonly port: number;
  readonly host: string;
  readonly address: string;
}

async function resolveHost(host: string, port: number): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (cause) {
    throw cannotListen({ port, host }, cause as NodeJS.ErrnoException);
  }
}

function cannotListen({ port, host }: Omit<Place, "address">, cause: NodeJS.ErrnoException): ServiceError {
  const code = cause.code === "EADDRINUSE" ? "SOCKET_IN_USE" : "SOCKET_UNUSABLE";
  return new ServiceError(code, `Cannot listen on port ${port} of "${host}": ${cause.code}`, { cause });
}

async function bind(server: Server, place: Place): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException): void => reject(cannotListen(place, cause));
    server.once("error", fail);
    server.listen({ port: place.port, host: place.address }, () => {
      server.off("error", fail);
      resolve();
    });
  });
}

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

// The first bytes of a connection tell its protocol; they are put back before it is handed on.
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
