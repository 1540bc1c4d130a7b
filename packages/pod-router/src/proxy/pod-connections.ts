import type { EventEmitter } from "node:events";
import { Agent as HttpAgent, type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { RouterConfig, RouterPod } from "../config/router-config.ts";

/** Milliseconds for a connection to a pod. */
const CONNECT_TIME = 5000;
const MAX_IDLE_CONNECTIONS = 256;

/** The connections to one pod. Each pod has its own, so that one that is slow or down takes nothing from the others. */
export class PodConnections {
  readonly pod: RouterPod;
  readonly #agent: HttpAgent;
  readonly #limit: number;
  readonly #idleTimeoutMs: number;
  #active = 0;

  constructor(pod: RouterPod, { maxRequestsPerPod, idleTimeoutMs }: RouterConfig) {
    const options = { keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS, scheduling: "lifo" } as const;
    this.pod = pod;
    this.#agent = pod.url.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
    this.#limit = maxRequestsPerPod;
    this.#idleTimeoutMs = idleTimeoutMs;
  }

  /** How many requests are under way. */
  get active(): number {
    return this.#active;
  }

  /**
   * Begins a request; undefined if the pod has as many as it may have. An upgrade gets a connection of its own.
   *
   * @throws what Node throws about a path or a header that it does not send
   */
  open(
    options: Pick<RequestOptions, "method" | "path" | "headers">,
    kind: "request" | "upgrade",
  ): ClientRequest | undefined {
    if (this.#active >= this.#limit) return undefined;
    const { protocol, hostname, port } = this.pod.url;
    const send = protocol === "https:" ? httpsRequest : httpRequest;
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    const agent = kind === "request" ? this.#agent : false;
    const request = send({ ...options, host, port: port === "" ? undefined : port, agent, setDefaultHeaders: false });
    this.#count(request);
    // The connection of an upgrade outlives its request.
    request.once("upgrade", (_, socket) => this.#count(socket));
    this.#limitTime(request);
    return request;
  }

  /** Closes the connections that nobody uses. */
  close(): void {
    this.#agent.destroy();
  }

  #count(used: EventEmitter): void {
    this.#active += 1;
    used.once("close", () => (this.#active -= 1));
  }

  #limitTime(request: ClientRequest): void {
    request.once("socket", (socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(() => request.destroy(new Error("no connection in time")), CONNECT_TIME);
      socket.once("connect", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
    });
    request.setTimeout(this.#idleTimeoutMs, () => request.destroy(new Error("the pod is silent")));
  }
}
