import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the numbers that Linux gives to outgoing connections: one of those could take the port while its server is started again. */
const LOWEST = 20_000;
const END = 32_000;
const given = new Set<number>();

/** Returns the number of a TCP port of 127.0.0.1 that nobody listens on, another one at each call. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, END);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
