import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { isIPv6 } from "node:net";
import { messageOf } from "@steps/model";
import { ServicesError } from "../error.ts";
import type { ServiceLimits } from "../options.ts";

const HEADERS_MS = 20_000;
const KEEP_ALIVE_MS = 30_000;
const CHECK_MS = 5_000;

export interface LoopbackServer {
  /** `http://127.0.0.1:1234/` */
  readonly baseUrl: string;
  /** Ends every connection, and comes back when the last handler has. */
  readonly close: () => Promise<void>;
}

/** Listens at a free port of an address; slow, silent and too many connections are ended. */
export async function startLoopbackServer(
  options: { readonly host: string; readonly limits: ServiceLimits },
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<LoopbackServer> {
  const { host, limits } = options;
  const running = new Set<Promise<void>>();
  const server = createServer({ connectionsCheckingInterval: CHECK_MS, noDelay: true }, (request, response) => {
    const done = handle(request, response)
      // An answer that fails as well leaves nothing to say.
      .catch(() => void response.destroy())
      .finally(() => running.delete(done));
    running.add(done);
  });
  server.headersTimeout = Math.min(HEADERS_MS, limits.requestMs);
  server.requestTimeout = limits.requestMs;
  server.keepAliveTimeout = Math.min(KEEP_ALIVE_MS, limits.idleMs);
  server.timeout = limits.idleMs;
  server.maxConnections = limits.maxConnections;
  await listen(server, host);
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://${isIPv6(host) ? `[${host}]` : host}:${port}/`,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      await Promise.allSettled(running);
    },
  };
}

async function listen(server: Server, host: string): Promise<void> {
  try {
    server.listen({ host, port: 0 });
    await once(server, "listening");
  } catch (error) {
    throw new ServicesError("SERVICES_LISTEN", `Cannot listen at "${host}": ${messageOf(error)}`, { cause: error });
  }
}
