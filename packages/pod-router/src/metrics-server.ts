import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { METRICS_TYPE } from "@steps/model/operation";

/** A server for figures alone. */
export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves figures at `/metrics` of an address of their own, which clients of the router cannot reach.
 *
 * @throws what Node throws when the port is taken
 */
export async function serveMetrics(
  { host, port }: { readonly host: string; readonly port: number },
  format: () => string,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const isAsked = /^\/metrics\/?(?:\?|$)/.test(request.url ?? "");
    if (isAsked) response.writeHead(200, { "Content-Type": METRICS_TYPE }).end(format());
    else response.writeHead(404, { "Content-Type": "text/plain" }).end("The figures are at /metrics\n");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  server.on("error", () => undefined);
  const { port: bound } = server.address() as AddressInfo;
  const close = async (): Promise<void> =>
    await new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: addressUrl(host, bound), close };
}

/** The URL of a port at an address. */
export function addressUrl(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
