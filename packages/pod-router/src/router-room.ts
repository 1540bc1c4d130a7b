import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Log } from "@steps/model/operation";
import { watchBody } from "./clients/body-pace.ts";
import { passOver } from "./clients/pass-over.ts";
import type { RouterConfig } from "./config/router-config.ts";
import { answer, LATE_BODY, type OwnAnswer } from "./proxy/answer.ts";
import { forward } from "./proxy/forward.ts";
import { forwardUpgrade } from "./proxy/forward-upgrade.ts";
import { peekBody } from "./proxy/peek-body.ts";
import { PodConnections } from "./proxy/pod-connections.ts";
import { refuseSocket } from "./proxy/refuse-socket.ts";
import type { RouterMetrics } from "./router-metrics.ts";
import { isForInside } from "./routing/api-path.ts";
import { decideRoute, type Route, type RoutedRequest } from "./routing/decide-route.ts";
import { redirectionOf } from "./routing/redirection-of.ts";

/** A request whose client waits for an answer. */
interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The parts of a router that its room uses. */
interface RoomParts {
  readonly metrics: RouterMetrics;
  readonly log: Log;
  /** The bytes a second with which a body has to come, once a client has had the time in which it may be silent. */
  readonly bodyBytesPerSecond: number;
}

/** The pods of one router with the requests that are on their way to them. */
export class RouterRoom {
  readonly #config: RouterConfig;
  readonly #parts: RoomParts;
  readonly #connections: ReadonlyMap<number, PodConnections>;

  constructor(config: RouterConfig, parts: RoomParts) {
    this.#config = config;
    this.#parts = parts;
    this.#connections = new Map(
      Array.from(config.pods.values(), (pod) => [pod.number, new PodConnections(pod, config)]),
    );
  }

  /** The requests that are under way, by the number of their pod. */
  get active(): ReadonlyMap<number, number> {
    return new Map(Array.from(this.#connections, ([number, { active }]) => [number, active]));
  }

  close(): void {
    for (const connections of this.#connections.values()) connections.close();
  }

  async route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith("/-/router/")) return this.#answerItself(request.url, response);
    const asked = { request, response };
    response.once("finish", () => passOver(request));
    let leave: (() => void) | undefined;
    const pace = { graceMs: this.#config.idleTimeoutMs, bytesPerSecond: this.#parts.bodyBytesPerSecond };
    const onSlow = (): void => {
      leave?.();
      if (response.headersSent) request.socket.destroy();
      else this.#refuse(asked, LATE_BODY);
    };
    // A small body has mostly come with its head, and is whole by then.
    process.nextTick(() => request.complete || watchBody(request, pace, onSlow));
    const { method = "GET", url: target = "/", headers } = request;
    const routed: RoutedRequest = { method, target, headers };
    let route = decideRoute(this.#config, routed);
    let body: Buffer | undefined;
    if (route.kind === "body") {
      const peeked = await peekBody(request);
      if (peeked === undefined || response.headersSent) return;
      if ("status" in peeked) return this.#refuse(asked, bodyRefusal(peeked.status));
      body = peeked.bytes;
      route = decideRoute(this.#config, { ...routed, body: peeked });
    }
    if (route.kind !== "pod") return this.#refuse(asked, unknownRefusal(route));
    leave = this.#forward(asked, route, body);
  }

  /** Gives the function that takes the request from its pod. */
  #forward(asked: Asked, route: Extract<Route, { kind: "pod" }>, body: Buffer | undefined): (() => void) | undefined {
    const { pod, by: evidence, target } = route;
    const connections = this.#connections.get(pod.number);
    if (isForInside(target) || connections === undefined) {
      this.#refuse(asked, { status: 404, message: "The figures of a pod are not passed on" });
      return undefined;
    }
    const location = redirectionOf(this.#config, pod, asked.request.method ?? "", target);
    if (location !== undefined) {
      this.#refuse(asked, { status: 307, message: "The pod takes uploads itself", headers: { Location: location } });
      return undefined;
    }
    this.#parts.metrics.routed(pod.number, evidence);
    const onEnd = (status: number | undefined): void => this.#parts.metrics.ended(pod.number, status);
    const refuse = (own: OwnAnswer): void => this.#refuse(asked, own, pod.number);
    return forward({ ...asked, connections, target, body, evidence, refuse, onEnd });
  }

  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { method = "GET", url: target = "/", headers } = request;
    const route = decideRoute(this.#config, { method, target, headers, body: { value: undefined } });
    const connections = route.kind === "pod" ? this.#connections.get(route.pod.number) : undefined;
    if (route.kind !== "pod" || connections === undefined) return this.#refuseUpgrade(socket, 503);
    if (isForInside(route.target)) return this.#refuseUpgrade(socket, 400);
    this.#parts.metrics.routed(route.pod.number, route.by);
    forwardUpgrade({ request, socket, head, connections, target: route.target });
  }

  #refuseUpgrade(socket: Socket, status: 400 | 503): void {
    this.#parts.metrics.refused(status);
    refuseSocket(socket, status);
  }

  #answerItself(url: string, response: ServerResponse): void {
    const isHealth = /^\/-\/router\/health(?:\?|$)/.test(url);
    answer(response, isHealth ? { status: 200, message: "The router is there" } : NOTHING_HERE);
  }

  #refuse({ request, response }: Asked, own: OwnAnswer, pod = own.pod): void {
    const { metrics, log } = this.#parts;
    metrics.refused(own.status);
    if (own.status !== 307) log("warning", own.message, { status: own.status, method: request.method, pod });
    answer(response, own);
    request.resume();
  }
}

const NOTHING_HERE: OwnAnswer = {
  status: 404,
  message: "There is nothing here: the router's health is at /-/router/health",
};

function unknownRefusal(route: Route): OwnAnswer {
  const pod = route.kind === "unknown" ? route.number : undefined;
  const message = pod === undefined ? "Nothing says to which pod this belongs" : "The pod is none of this router's";
  return { status: 503, message, pod };
}

function bodyRefusal(status: 400 | 408 | 413): OwnAnswer {
  const messages = { 400: "The body is no JSON", 408: "The body took too long", 413: "The body is larger than 32 KiB" };
  return { status, message: messages[status], headers: { Connection: "close" } };
}
