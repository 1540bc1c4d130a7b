import type { IncomingMessage } from "node:http";

/** The longest time in which a body may end that nobody wants any more, and the most bytes of it. */
const PASS_MS = 5_000;
const PASS_BYTES = 256 * 1024 * 1024;

/**
 * Passes over the rest of a body whose answer has been sent. A client that does not end it is cut off; closed at once, the connection
 * could break before the answer is read.
 */
export function passOver(request: IncomingMessage): void {
  if (request.complete) return;
  const { socket } = request;
  const timer = setTimeout(() => socket.destroy(), PASS_MS);
  let left = PASS_BYTES;
  request.on("data", (bytes: Buffer) => {
    left -= bytes.length;
    if (left < 0) socket.destroy();
  });
  request.once("close", () => clearTimeout(timer));
}
