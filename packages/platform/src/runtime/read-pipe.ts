import { closeSync } from "node:fs";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { bun } from "./engine.ts";

/**
 * Reads a pipe as its bytes come, and closes it at its end. @param fd the reading end, opened without waiting (`O_NONBLOCK`)
 */
export function readPipe(fd: number): Readable {
  if (bun === undefined) return new Socket({ fd, readable: true, writable: false });
  const reader = bun.file(fd).stream().getReader();
  // The first read makes a descriptor of its own, so ours is not needed any more.
  let ahead: ReturnType<typeof reader.read> | undefined = reader.read();
  closeSync(fd);
  // Whoever reads is told.
  ahead.catch(() => {});
  return new Readable({
    read() {
      const next = ahead ?? reader.read();
      ahead = undefined;
      next.then(
        ({ done, value }) => this.push(done ? null : value),
        (error: unknown) => this.destroy(error as Error),
      );
    },
    destroy(error, done) {
      const end = (): void => done(error);
      reader.cancel().then(end, end);
    },
  });
}
