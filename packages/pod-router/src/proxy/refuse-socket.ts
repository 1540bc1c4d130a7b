import type { Socket } from "node:net";

/** How long a client has to close the connection after a refusal. */
const LEAVE_MS = 5_000;

const LINES = {
  400: "400 Bad Request",
  503: "503 Service Unavailable\r\nRetry-After: 2",
} as const;

/** Answers on a connection without reading a request, and closes it. */
export function refuseSocket(socket: Socket, status: keyof typeof LINES): void {
  if (socket.destroyed || !socket.writable) return;
  socket.once("finish", () => closeSoon(socket));
  socket.resume().end(`HTTP/1.1 ${LINES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/** Closes a connection whose client does not: closed at once, it could break before the answer is read. */
export function closeSoon(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), LEAVE_MS);
  socket.once("close", () => clearTimeout(timer));
}
