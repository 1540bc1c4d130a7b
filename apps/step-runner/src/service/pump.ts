import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";

const FLUSH_MS = 5000;

/**
 * Carries bytes both ways between a pair of streams and a socket, at the pace of the slower side, until either side ends:
 * the end of the input is all that tells a proxy that its caller has left. What was read before is delivered. Gives the
 * error that ended it, if one did; a caller that does not read any more is none.
 */
export async function pump(input: Readable, output: Writable, socket: Socket): Promise<Error | undefined> {
  const ended = await new Promise<{ readonly side: "input" | "socket"; readonly error?: Error }>((resolve) => {
    input.once("end", () => resolve({ side: "input" }));
    input.once("close", () => resolve({ side: "input" }));
    input.once("error", (error) => resolve({ side: "input", error }));
    socket.once("end", () => resolve({ side: "socket" }));
    socket.once("close", () => resolve({ side: "socket" }));
    socket.once("error", (error) => resolve({ side: "socket", error }));
    // Nobody reads what the service says: the same as if the caller had left.
    output.once("error", () => resolve({ side: "input" }));
    output.once("close", () => resolve({ side: "input" }));
    input.pipe(socket, { end: false });
    socket.pipe(output, { end: false });
  });
  for (const stream of [input, output, socket]) stream.on("error", () => undefined);
  await flush(ended.side === "input" ? socket : output);
  socket.destroy();
  input.destroy();
  return ended.error;
}

// Bytes for a reader that has stopped reading are given up after a while.
async function flush(stream: Writable): Promise<void> {
  if (stream.destroyed || stream.writableLength === 0) return;
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, FLUSH_MS);
    stream.once("close", resolve);
    stream.write("", () => resolve());
  });
  clearTimeout(timer);
}
