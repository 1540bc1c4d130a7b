import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { checkOptionNames, type OptionNames, MAX_TIMER_MS } from "@steps/model";
import type { Log } from "@steps/model/operation";
import { calmLog } from "./calm-log.ts";
import { ClientConnections } from "./clients/client-connections.ts";
import { RequestLine } from "./clients/request-line.ts";
import type { RouterConfig } from "./config/router-config.ts";
import { addressUrl, serveMetrics } from "./metrics-server.ts";
import { refuseSocket } from "./proxy/refuse-socket.ts";
import { RouterMetrics } from "./router-metrics.ts";
import { RouterRoom } from "./router-room.ts";

/** A router that listens. */
export interface Router {
  /** The address at which it listens: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The address of its figures, which are at `/metrics`; undefined if they were not asked for. */
  readonly metricsUrl: string | undefined;
  /**
   * Takes no more requests and waits for those under way, at most so many milliseconds, or until the signal is aborted; then they are
   * cut off. Runners ask again, and another router gives the same answers.
   */
  close(graceMs: number, hurry?: AbortSignal): Promise<void>;
}

/** The address at which a router listens, and what it asks of its clients. */
export interface RouterOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string | undefined;
  /** 0 for one that is free. */
  readonly port: number;
  /** The address for its figures in the format of Prometheus. Default: none, since clients of the router should not read them. */
  readonly metrics?: { readonly host: string; readonly port: number } | undefined;
  /** Milliseconds that a client has for the head of a request. Default: a minute. */
  readonly headTimeoutMs?: number | undefined;
  /**
   * Bytes a second with which a body has to come on average, once the client has had the `idleTimeoutMs` of the configuration; a slower
   * one is answered with 408. Default: 1024.
   */
  readonly bodyBytesPerSecond?: number | undefined;
  /** Takes what is worth a line in a log. */
  readonly log?: Log | undefined;
}

const OPTION_NAMES: OptionNames<RouterOptions> = {
  host: true,
  port: true,
  metrics: true,
  headTimeoutMs: true,
  bodyBytesPerSecond: true,
  log: true,
};

/** Connections that are refused with an answer at the same time; more are closed without a word, as soon as they are there. */
const MAX_REFUSED = 64;

/**
 * Starts a router. It keeps nothing but its configuration, so that any number of them stand side by side, and each may be killed at
 * any time. Its health is at `/-/router/health`.
 *
 * @throws what Node throws when a port is taken
 */
export async function startRouter(config: RouterConfig, options: RouterOptions): Promise<Router> {
  checkOptionNames("startRouter()", options, OPTION_NAMES);
  const { host = "127.0.0.1", port, bodyBytesPerSecond = 1024 } = options;
  const log = calmLog(options.log ?? (() => undefined));
  const metrics = new RouterMetrics();
  const room = new RouterRoom(config, { metrics, log, bodyBytesPerSecond });
  const clients = new ClientConnections(config.maxConnections);
  const line = new RequestLine((request, response) => void room.route(request, response));
  const server = serverFor(config, options, { room, line });
  const sockets = limitConnections(server, config.maxConnections, { clients, metrics, log });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  // A connection that cannot be accepted, because the system has no memory or the client has left, costs the others nothing.
  server.on("error", () => undefined);
  const close: Router["close"] = async (graceMs, hurry) => {
    line.end();
    await closeServer(server, sockets, graceMs, hurry);
    await figures?.close();
    room.close();
  };
  const format = (): string => metrics.format({ active: room.active, connections: clients.total });
  let figures: Awaited<ReturnType<typeof serveMetrics>> | undefined;
  try {
    figures = options.metrics === undefined ? undefined : await serveMetrics(options.metrics, format);
  } catch (error) {
    await close(0);
    throw error;
  }
  const { port: bound } = server.address() as AddressInfo;
  return { url: addressUrl(host, bound), metricsUrl: figures?.url, close };
}

/** A server that gives its requests to a room, one of each connection at a time. */
function serverFor(
  config: RouterConfig,
  { headTimeoutMs = 60_000 }: RouterOptions,
  { room, line }: { readonly room: RouterRoom; readonly line: RequestLine },
): Server {
  const server = createServer({
    requestTimeout: 0,
    headersTimeout: headTimeoutMs,
    connectionsCheckingInterval: Math.min(headTimeoutMs, 5_000),
    keepAliveTimeout: 75_000,
    // A body would be lost, and with HTTP/2 a client could ask a pod for anything unseen: such offers are passed over.
    shouldUpgradeCallback: ({ headers }) =>
      headers.upgrade?.toLowerCase() === "websocket" &&
      (headers["content-length"] ?? headers["transfer-encoding"]) === undefined,
  });
  server.on("request", (request, response) => line.add(request, response));
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (line.isBusy(socket)) socket.destroy();
    else room.upgrade(request, socket, head);
  });
  // A client that takes no byte of its answer has left; one whose request is under way and that has nothing to read waits for its pod.
  server.setTimeout(config.idleTimeoutMs, (socket) => {
    if (socket.writableLength > 0 || !line.isBusy(socket)) socket.destroy();
  });
  return server;
}

/** Refuses connections that are too many, before anything of them is read. Gives those that are open. */
function limitConnections(
  server: Server,
  maxConnections: number,
  {
    clients,
    metrics,
    log,
  }: { readonly clients: ClientConnections; readonly metrics: RouterMetrics; readonly log: Log },
): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  const refused = (limit: "all" | "client", client: string | undefined): void => {
    metrics.connectionRefused(limit);
    log("warning", "A connection was refused: there are too many", { limit, client });
  };
  const accept = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection").on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    const taken = clients.take(socket);
    if (taken === "taken") {
      for (const listener of accept) listener.call(server, socket);
      return;
    }
    refused(taken, socket.remoteAddress);
    if (sockets.size - clients.total > MAX_REFUSED) socket.destroy();
    else
      refuseSocket(
        socket.on("error", () => undefined),
        503,
      );
  });
  server.maxConnections = maxConnections + MAX_REFUSED;
  server.on("drop", (data) => refused("all", data?.remoteAddress));
  return sockets;
}

async function closeServer(
  server: Server,
  sockets: ReadonlySet<Socket>,
  graceMs: number,
  hurry?: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cutOff = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const timer = setTimeout(cutOff, Math.min(graceMs, MAX_TIMER_MS));
  hurry?.addEventListener("abort", cutOff);
  server.close(() => resolve());
  server.closeIdleConnections();
  if (hurry?.aborted === true) cutOff();
  await promise;
  clearTimeout(timer);
  hurry?.removeEventListener("abort", cutOff);
}
