import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { passedHeaders, requestHeaders } from "./forwarded-headers.ts";
import type { PodConnections } from "./pod-connections.ts";

/** A request for another protocol on its way to a pod, with the client's connection and what it sent beyond the request. */
export interface ForwardedUpgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly connections: PodConnections;
  readonly target: string;
}

/** How long a client has to close the connection after a refusal. */
const LEAVE_MS = 5_000;
const KEEP_ALIVE_MS = 60_000;

/** Joins a client to its pod for a WebSocket: once the pod agrees, bytes go both ways until one side ends. */
export function forwardUpgrade({ request, socket, head, connections, target }: ForwardedUpgrade): void {
  const { method, headers } = request;
  const upgrade = ["Connection", "Upgrade", "Upgrade", headers.upgrade ?? "websocket"];
  const passed = [...requestHeaders(request, connections.pod.url.host), ...upgrade];
  socket.on("error", () => socket.destroy());
  let upstream;
  try {
    upstream = connections.upgrade({ method, path: target, headers: passed });
  } catch {
    return refuseUpgrade(socket, 400);
  }
  if (upstream === undefined) return refuseUpgrade(socket, 503);
  socket.once("close", () => upstream.destroy());
  let hasBegun = false;
  upstream.on("error", () => (hasBegun ? socket.destroy() : refuseUpgrade(socket, 503)));
  upstream.once("upgrade", (answer, podSocket, podHead) => {
    podSocket.on("error", () => socket.destroy()).once("close", () => socket.destroy());
    socket.once("close", () => podSocket.destroy());
    // Either may be silent for hours; one that has vanished must not keep the other.
    for (const side of [socket, podSocket]) side.setKeepAlive(true, KEEP_ALIVE_MS);
    podSocket.setTimeout(0);
    socket.write(headOf(answer, ["Connection", "Upgrade", "Upgrade", answer.headers.upgrade ?? "websocket"]));
    socket.write(podHead);
    podSocket.write(head);
    podSocket.pipe(socket).pipe(podSocket);
  });
  // The pod refused in plain HTTP. The connection ends with the answer.
  upstream.once("response", (answer) => {
    hasBegun = true;
    socket.write(headOf(answer, ["Connection", "close"]), "latin1");
    // An answer that breaks off must not look whole.
    answer.on("error", () => socket.destroy()).pipe(socket);
    socket.once("finish", () => closeSoon(socket));
  });
  upstream.end();
}

/** Answers a request for another protocol in the pod's place. */
export function refuseUpgrade(socket: Socket, status: 400 | 503): void {
  const text = status === 503 ? "503 Service Unavailable\r\nRetry-After: 2" : "400 Bad Request";
  if (socket.destroyed || !socket.writable) return;
  socket.once("finish", () => closeSoon(socket));
  socket.resume().end(`HTTP/1.1 ${text}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** Closes a connection whose client does not: closed at once, it could break before the answer is read. */
function closeSoon(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LEAVE_MS);
  socket.once("close", () => clearTimeout(timer));
}

function headOf(message: IncomingMessage, more: readonly string[]): string {
  const pairs = [...passedHeaders(message.rawHeaders), ...more];
  const lines = pairs.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${pairs[at + 1] ?? ""}`] : []));
  return `HTTP/1.1 ${message.statusCode} ${message.statusMessage}\r\n${lines.join("\r\n")}\r\n\r\n`;
}
