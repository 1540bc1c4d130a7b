import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { bun } from "./engine.ts";

/**
 * Reads a pipe as its bytes come, and closes it at its end. @param fd the reading end, opened without waiting (`O_NONBLOCK`)
 */
export function readPipe(fd: number): Readable {
  if (bun === undefined) return new Socket({ fd, readable: true, writable: false });
  const stream = Readable.fromWeb(bun.file(fd).stream() as ReadableStream);
  return stream.on("close", () => closeSync(fd));
}
