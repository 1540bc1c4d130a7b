import type { EventEmitter } from "node:events";
import { type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { RouterConfig, RouterPod } from "../config/router-config.ts";
import { type PodCall, PodSocket } from "./pod-socket.ts";

/** Milliseconds for a connection to a pod. */
const CONNECT_TIME = 5000;
const MAX_IDLE_CONNECTIONS = 256;

/** The connections to one pod. Each pod has its own, so that one that is slow or down takes nothing from the others. */
export class PodConnections {
  readonly pod: RouterPod;
  /** Milliseconds without a byte after which a side is given up. */
  readonly idleTimeoutMs: number;
  readonly #limit: number;
  /** Those without a request; the last was used last. */
  readonly #free: PodSocket[] = [];
  #active = 0;
  #isClosed = false;

  constructor(pod: RouterPod, { maxRequestsPerPod, idleTimeoutMs }: RouterConfig) {
    this.pod = pod;
    this.#limit = maxRequestsPerPod;
    this.idleTimeoutMs = idleTimeoutMs;
  }

  /** How many requests are under way. */
  get active(): number {
    return this.#active;
  }

  /** Begins a request on a connection of its own until its answer is whole; undefined if the pod has as many as it may have. */
  begin(method: string, call: PodCall): PodSocket | undefined {
    if (this.#active >= this.#limit) return undefined;
    this.#active += 1;
    const socket = this.#takeFree() ?? this.#connect();
    socket.begin(method, call);
    return socket;
  }

  /**
   * Asks the pod for another protocol, on a connection that outlives the request; undefined if the pod has as many as it may have.
   *
   * @throws what Node throws about a path or a header that it does not send
   */
  upgrade(options: Pick<RequestOptions, "method" | "path" | "headers">): ClientRequest | undefined {
    if (this.#active >= this.#limit) return undefined;
    const send = this.pod.url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send({ ...options, ...this.#address(), agent: false, setDefaultHeaders: false });
    this.#count(request);
    request.once("upgrade", (_, socket) => this.#count(socket));
    request.once("socket", (socket) => this.#limitTime(socket));
    request.setTimeout(this.idleTimeoutMs, () => request.destroy(new Error("the pod is silent")));
    return request;
  }

  /** Closes the connections that nobody uses. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#free.splice(0)) socket.destroy();
  }

  #address(): { readonly host: string; readonly port: number } {
    const { protocol, hostname, port } = this.pod.url;
    const byDefault = protocol === "https:" ? 443 : 80;
    return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? byDefault : Number(port) };
  }

  #takeFree(): PodSocket | undefined {
    for (let socket = this.#free.pop(); socket !== undefined; socket = this.#free.pop()) {
      if (socket.isUsable) return socket;
      socket.destroy();
    }
    return undefined;
  }

  #connect(): PodSocket {
    const address = this.#address();
    const servername = isIP(address.host) === 0 ? address.host : "";
    const socket = this.pod.url.protocol === "https:" ? connectTls({ ...address, servername }) : connect(address);
    this.#limitTime(socket);
    return new PodSocket(socket, {
      idleTimeoutMs: this.idleTimeoutMs,
      onFree: (pod, isReusable) => this.#release(pod, isReusable),
    });
  }

  #release(socket: PodSocket, isReusable: boolean): void {
    this.#active -= 1;
    if (!isReusable) return;
    if (this.#isClosed || this.#free.length === MAX_IDLE_CONNECTIONS) socket.destroy();
    else this.#free.push(socket);
  }

  #count(used: EventEmitter): void {
    this.#active += 1;
    used.once("close", () => (this.#active -= 1));
  }

  #limitTime(socket: Socket): void {
    if (!socket.connecting) return;
    const timer = setTimeout(() => socket.destroy(new Error("no connection in time")), CONNECT_TIME);
    const ready = this.pod.url.protocol === "https:" ? "secureConnect" : "connect";
    socket.once(ready, () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
  }
}
