import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { answer } from "./answer.ts";
import { passedHeaders, requestHeaders } from "./forwarded-headers.ts";
import type { PodConnections } from "./pod-connections.ts";

/** A request on its way to a pod. */
export interface Forwarded {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connections: PodConnections;
  /** The path that the pod is asked for. */
  readonly target: string;
  /** The body, if it has been read already; it is streamed otherwise. */
  readonly body?: Buffer | undefined;
  /** The reason for which the router chose the pod: a header of the answer tells it. */
  readonly evidence: string;
  /** Is called once, with the status that the client got, or undefined if the client left or was cut off. */
  readonly onEnd: (status: number | undefined) => void;
}

/**
 * Sends a request to its pod and the answer back, both as streams that wait for each other. A client that leaves takes its request
 * to the pod with it, so that no job is given to a socket that is gone. Nothing is tried twice: a pod that cannot be reached is 503.
 */
export function forward(call: Forwarded): void {
  const { request, response, connections, target, body, onEnd } = call;
  response.once("close", () => onEnd(response.writableFinished ? response.statusCode : undefined));
  const { "transfer-encoding": coding } = request.headers;
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    return answer(response, { status: 400, message: "The only transfer coding that is passed on is chunked" });
  }
  let upstream: ClientRequest | undefined;
  try {
    upstream = connections.open({ method: request.method, path: target, headers: framedHeaders(call) }, "request");
  } catch {
    return answer(response, { status: 400, message: "The path or a header of the request cannot be passed on" });
  }
  if (upstream === undefined) return refuse(call, "has too many requests");
  passBack(call, upstream);
  if (body === undefined) request.pipe(upstream);
  else upstream.end(body);
}

/** The headers with those of the framing, which Node would otherwise guess from the method. */
function framedHeaders({ request, connections, body }: Forwarded): string[] {
  const headers = requestHeaders(request, connections.pod.url.host);
  if (request.headers["transfer-encoding"] === undefined) return headers;
  return body === undefined
    ? [...headers, "Transfer-Encoding", "chunked"]
    : [...headers, "Content-Length", String(body.length)];
}

function passBack(call: Forwarded, upstream: ClientRequest): void {
  const { request, response, connections, evidence } = call;
  // The pod may answer before it has read a body, and need the rest no longer.
  const drop = (): void => {
    request.unpipe(upstream);
    request.resume();
  };
  response.once("close", () => upstream.destroy());
  upstream.once("close", drop);
  upstream.on("error", () => {
    if (response.headersSent) response.destroy();
    else refuse(call, "cannot be reached");
  });
  upstream.once("response", (incoming) => {
    const headers = [...passedHeaders(incoming), "X-Pod-Route", `${connections.pod.number} ${evidence}`];
    response.sendDate = false;
    response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, headers);
    response.flushHeaders();
    incoming.pipe(response);
    // An answer that breaks off must not look whole.
    incoming.once("error", () => response.destroy());
    incoming.once("close", () => incoming.complete || response.destroy());
  });
}

function refuse({ request, response, connections }: Forwarded, why: string): void {
  answer(response, { status: 503, message: `Pod ${connections.pod.number} ${why}: try again` });
  request.resume();
}
