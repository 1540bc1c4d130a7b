import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { checkOptionNames, type OptionNames, MAX_TIMER_MS } from "@steps/model";
import { type Log, METRICS_TYPE } from "@steps/model/operation";
import type { RouterConfig } from "./config/router-config.ts";
import { answer, type OwnAnswer } from "./proxy/answer.ts";
import { forward } from "./proxy/forward.ts";
import { forwardUpgrade, refuseUpgrade } from "./proxy/forward-upgrade.ts";
import { peekBody } from "./proxy/peek-body.ts";
import { PodConnections } from "./proxy/pod-connections.ts";
import { RouterMetrics } from "./router-metrics.ts";
import { redirectionOf } from "./routing/redirection-of.ts";
import { decideRoute, type Route, type RoutedRequest } from "./routing/decide-route.ts";

/** A router that listens. */
export interface Router {
  /** The address at which it listens: `http://127.0.0.1:8080`. */
  readonly url: string;
  /**
   * Takes no more requests and waits for those under way, at most so many milliseconds, or until the signal is aborted; then they are
   * cut off. Runners ask again, and another router gives the same answers.
   */
  close(graceMs: number, hurry?: AbortSignal): Promise<void>;
}

/** The address at which a router listens. */
export interface RouterOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string | undefined;
  /** 0 for one that is free. */
  readonly port: number;
  /** Takes what is worth a line in a log. */
  readonly log?: Log | undefined;
}

/** The name of the pod that nobody knows, for the log and the counts. */
type Refusal = OwnAnswer & { readonly pod?: number | undefined };

const OPTION_NAMES: OptionNames<RouterOptions> = { host: true, port: true, log: true };

/**
 * Starts a router. It keeps nothing but its configuration, so that any number of them stand side by side, and each may be killed at
 * any time. Its own state is below `/-/router/`: `health` and `metrics`.
 *
 * @throws what Node throws when the port is taken
 */
export async function startRouter(config: RouterConfig, options: RouterOptions): Promise<Router> {
  checkOptionNames("startRouter()", options, OPTION_NAMES);
  const room = new RouterRoom(config, options);
  const server = createServer({
    requestTimeout: 0,
    headersTimeout: 60_000,
    keepAliveTimeout: 75_000,
    // Clients that offer HTTP/2 do so with a body too, and it would be lost.
    shouldUpgradeCallback: ({ headers }) => (headers["content-length"] ?? headers["transfer-encoding"]) === undefined,
  });
  server.on("request", (request, response) => void room.route(request, response));
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => room.upgrade(request, socket, head));
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const { host = "127.0.0.1", port } = options;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  // A connection that cannot be accepted, because the system has no memory or the client has left, costs the others nothing.
  server.on("error", () => undefined);
  const { port: bound } = server.address() as AddressInfo;
  const close: Router["close"] = async (graceMs, hurry) => {
    await closeServer(server, sockets, graceMs, hurry);
    room.close();
  };
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`, close };
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

/** The connections and the counts of one router. */
class RouterRoom {
  readonly #config: RouterConfig;
  readonly #log: NonNullable<RouterOptions["log"]>;
  readonly #metrics = new RouterMetrics();
  readonly #connections: ReadonlyMap<number, PodConnections>;

  constructor(config: RouterConfig, { log }: RouterOptions) {
    this.#config = config;
    this.#log = log ?? (() => undefined);
    this.#connections = new Map(
      Array.from(config.pods.values(), (pod) => [pod.number, new PodConnections(pod, config)]),
    );
  }

  close(): void {
    for (const connections of this.#connections.values()) connections.close();
  }

  async route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith("/-/router/")) return this.#answerItself(request.url, response);
    const { method = "GET", url: target = "/", headers } = request;
    const routed: RoutedRequest = { method, target, headers };
    let route = decideRoute(this.#config, routed);
    let body: Buffer | undefined;
    if (route.kind === "body") {
      const peeked = await peekBody(request);
      if (peeked === undefined) return;
      if ("status" in peeked) return this.#refuse(request, response, bodyRefusal(peeked.status));
      body = peeked.bytes;
      route = decideRoute(this.#config, { ...routed, body: peeked });
    }
    if (route.kind !== "pod") return this.#refuse(request, response, unknownRefusal(route));
    this.#forward({ request, response, route, body });
  }

  #forward(call: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly route: Extract<Route, { kind: "pod" }>;
    readonly body: Buffer | undefined;
  }): void {
    const { request, response, route, body } = call;
    const { pod, by: evidence, target } = route;
    const location = redirectionOf(this.#config, pod, request.method ?? "", target);
    const connections = this.#connections.get(pod.number);
    if (location !== undefined || connections === undefined) {
      const headers = { Location: location ?? "" };
      return this.#refuse(request, response, { status: 307, message: "The pod takes uploads itself", headers });
    }
    this.#metrics.routed(pod.number, evidence);
    const onEnd = (status: number | undefined): void => this.#metrics.ended(pod.number, status);
    forward({ request, response, connections, target, body, evidence, onEnd });
  }

  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { method = "GET", url: target = "/", headers } = request;
    const route = decideRoute(this.#config, { method, target, headers, body: { value: undefined } });
    const connections = route.kind === "pod" ? this.#connections.get(route.pod.number) : undefined;
    if (route.kind !== "pod" || connections === undefined) return refuseUpgrade(socket, 503);
    this.#metrics.routed(route.pod.number, route.by);
    forwardUpgrade({ request, socket, head, connections, target: route.target });
  }

  #answerItself(url: string, response: ServerResponse): void {
    if (/^\/-\/router\/metrics(?:\?|$)/.test(url)) {
      const active = new Map(Array.from(this.#connections, ([number, { active }]) => [number, active]));
      response.writeHead(200, { "Content-Type": METRICS_TYPE }).end(this.#metrics.format(active));
    } else answer(response, { status: 200, message: "The router is there" });
  }

  #refuse(request: IncomingMessage, response: ServerResponse, { pod, ...own }: Refusal): void {
    this.#metrics.refused(own.status);
    if (own.status !== 307) this.#log("warning", own.message, { status: own.status, method: request.method, pod });
    answer(response, own);
    request.resume();
  }
}

function unknownRefusal(route: Route): Refusal {
  const pod = route.kind === "unknown" ? route.number : undefined;
  const message = pod === undefined ? "Nothing says to which pod this belongs" : "The pod is none of this router's";
  return { status: 503, message, pod };
}

function bodyRefusal(status: 400 | 408 | 413): Refusal {
  const messages = { 400: "The body is no JSON", 408: "The body took too long", 413: "The body is larger than 32 KiB" };
  return { status, message: messages[status], headers: { Connection: "close" } };
}
