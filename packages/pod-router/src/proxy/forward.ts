import type { IncomingMessage, ServerResponse } from "node:http";
import { LATE_BODY, type OwnAnswer } from "./answer.ts";
import { passedHeaders, requestHeaders } from "./forwarded-headers.ts";
import type { PodConnections } from "./pod-connections.ts";
import type { PodCall, PodSocket } from "./pod-socket.ts";

/** A request on its way to a pod. */
export interface Forwarded {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connections: PodConnections;
  /** The path that the pod is asked for. */
  readonly target: string;
  /** The body, if it has been read already; it is streamed otherwise. */
  readonly body?: Buffer | undefined;
  /** The part of the request that made the router choose the pod: a header of the answer tells it. */
  readonly evidence: string;
  /** Answers in the pod's place. */
  readonly refuse: (own: OwnAnswer) => void;
  /** Is called once, with the status of the pod, or undefined if its answer did not arrive whole or there was none. */
  readonly onEnd: (status: number | undefined) => void;
}

/**
 * Sends a request to its pod and the answer back, both as streams that wait for each other. A client that leaves takes its request
 * to the pod with it, so that no job is given to a socket that is gone. Nothing is tried twice: a pod that cannot be reached is 503.
 *
 * @returns what takes the request from its pod, which then hears and says no more of it
 */
export function forward(call: Forwarded): () => void {
  const { request, response, connections, body, refuse, onEnd } = call;
  let upstream: PodSocket | undefined;
  const over = (): void => {
    upstream = undefined;
    request.resume();
  };
  const leave = (): void => {
    upstream?.destroy();
    over();
  };
  const back = passBack(call, { pause: () => upstream?.pause(), over });
  response.once("close", () => {
    leave();
    onEnd(response.writableFinished ? back.status() : undefined);
  });
  const head = headOf(call);
  if (typeof head !== "string") {
    refuse(head);
    return leave;
  }
  response.on("drain", () => upstream?.resume());
  upstream = connections.begin(request.method ?? "GET", back);
  if (upstream === undefined) refuse({ status: 503, message: "The pod has too many requests: try again" });
  else if (body !== undefined) sendWhole(upstream, head, body);
  else sendStream(request, () => upstream, head);
  return leave;
}

/** Passes the parts of the answer on, and tells its status. `over` is called when nothing more comes. */
function passBack(
  call: Forwarded,
  { pause, over }: { readonly pause: () => void; readonly over: () => void },
): PodCall & { readonly status: () => number | undefined } {
  const { request, response, connections, evidence, refuse } = call;
  let answered: number | undefined;
  return {
    status: () => answered,
    onHead({ status, reason, rawHeaders }) {
      const headers = passedHeaders(rawHeaders);
      headers.push("X-Pod-Route", `${connections.pod.number} ${evidence}`);
      response.sendDate = false;
      // The head leaves with the first bytes of the body if they are there already.
      const { socket } = response;
      socket?.cork();
      process.nextTick(() => socket?.uncork());
      response.writeHead(status, reason, headers);
      response.flushHeaders();
      answered = status;
    },
    onBytes: (bytes) => void (response.write(bytes) || pause()),
    onEnd() {
      // The pod may answer before it has read a body, and need the rest no longer.
      over();
      response.end();
    },
    onFailure(of) {
      over();
      // An answer that breaks off must not look whole.
      if (response.headersSent) response.destroy();
      else refuse(of === "client" ? LATE_BODY : { status: 503, message: "The pod cannot be reached: try again" });
    },
    onDrain: () => void request.resume(),
  };
}

function sendWhole(upstream: PodSocket, head: string, body: Buffer): void {
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 0, "latin1");
  body.copy(bytes, head.length);
  upstream.write(bytes);
  upstream.finish();
}

/** Sends the body as it comes, as long as the pod takes it. */
function sendStream(request: IncomingMessage, upstream: () => PodSocket | undefined, head: string): void {
  const { "transfer-encoding": coding, "content-length": length } = request.headers;
  const isChunked = coding !== undefined;
  const first = upstream();
  if (!isChunked && (length === undefined || length === "0")) {
    first?.write(head);
    first?.finish();
    return;
  }
  // Bytes that arrived with the head leave with it.
  first?.cork();
  first?.write(head);
  request.on("data", (bytes: Buffer) => {
    const pod = upstream();
    if (pod !== undefined && !writeTo(pod, bytes, isChunked)) request.pause();
  });
  request.on("end", () => {
    if (isChunked) upstream()?.write("0\r\n\r\n");
    upstream()?.finish();
  });
  process.nextTick(() => first?.uncork());
}

function writeTo(pod: PodSocket, bytes: Buffer, isChunked: boolean): boolean {
  if (!isChunked) return pod.write(bytes);
  pod.cork();
  pod.write(`${bytes.length.toString(16)}\r\n`);
  pod.write(bytes);
  const takesMore = pod.write("\r\n");
  pod.uncork();
  return takesMore;
}

const PATH = /^[\x21-\xff]+$/;
const UNWRITABLE: OwnAnswer = { status: 400, message: "The path or a header of the request cannot be passed on" };
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The head of the request for the pod, with the framing of its body, or the refusal of one that cannot be written as HTTP. */
function headOf({ request, connections, target, body }: Forwarded): string | OwnAnswer {
  const headers = requestHeaders(request, connections.pod.url.host);
  const { "transfer-encoding": coding, "content-length": length = body?.length } = request.headers;
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    return { status: 400, message: "The only transfer coding that is passed on is chunked" };
  if (coding !== undefined && body === undefined) headers.push("Transfer-Encoding", "chunked");
  else if (length !== undefined) headers.push("Content-Length", String(length));
  if (!PATH.test(target)) return UNWRITABLE;
  let head = `${request.method} ${target} HTTP/1.1\r\n`;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const value = headers[at + 1] ?? "";
    if (!HEADER_VALUE.test(value)) return UNWRITABLE;
    head += `${headers[at]}: ${value}\r\n`;
  }
  return `${head}\r\n`;
}
