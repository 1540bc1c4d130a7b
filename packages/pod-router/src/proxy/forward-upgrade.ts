import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { passedHeaders, requestHeaders } from "./forwarded-headers.ts";
import type { PodConnections } from "./pod-connections.ts";
import { closeSoon, refuseSocket } from "./refuse-socket.ts";

/** A request for another protocol on its way to a pod, with the client's connection and what it sent beyond the request. */
export interface ForwardedUpgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly connections: PodConnections;
  readonly target: string;
}

const KEEP_ALIVE_MS = 60_000;

/** Joins a client to its pod for a WebSocket: once the pod agrees, bytes go both ways until one side ends. */
export function forwardUpgrade({ request, socket, head, connections, target }: ForwardedUpgrade): void {
  const { method, headers } = request;
  const upgrade = ["Connection", "Upgrade", "Upgrade", headers.upgrade ?? "websocket"];
  const passed = [...requestHeaders(request, connections.pod.url.host), ...upgrade];
  socket.on("error", () => socket.destroy());
  endWhenStuck(socket, connections.idleTimeoutMs);
  let upstream;
  try {
    upstream = connections.upgrade({ method, path: target, headers: passed });
  } catch {
    return refuseSocket(socket, 400);
  }
  if (upstream === undefined) return refuseSocket(socket, 503);
  socket.once("close", () => upstream.destroy());
  let hasBegun = false;
  upstream.on("error", () => (hasBegun ? socket.destroy() : refuseSocket(socket, 503)));
  upstream.once("upgrade", (answer, podSocket, podHead) => {
    podSocket.on("error", () => socket.destroy()).once("close", () => socket.destroy());
    socket.once("close", () => podSocket.destroy());
    // Either may be silent for hours; one that has vanished must not keep the other.
    for (const side of [socket, podSocket]) side.setKeepAlive(true, KEEP_ALIVE_MS);
    endWhenStuck(podSocket.removeAllListeners("timeout"), connections.idleTimeoutMs);
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

/** Closes a connection whose other side takes nothing of what is there for it. */
function endWhenStuck(socket: Socket, afterMs: number): void {
  socket.setTimeout(afterMs, () => void (socket.writableLength > 0 && socket.destroy()));
}

function headOf(message: IncomingMessage, more: readonly string[]): string {
  const pairs = [...passedHeaders(message.rawHeaders), ...more];
  const lines = pairs.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${pairs[at + 1] ?? ""}`] : []));
  return `HTTP/1.1 ${message.statusCode} ${message.statusMessage}\r\n${lines.join("\r\n")}\r\n\r\n`;
}
