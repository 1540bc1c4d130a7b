import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request as send,
  type RequestOptions,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { onTestFinished } from "vitest";
import { type RouterConfig, type RouterOptions, startRouter } from "../src/index.ts";

/** A server in the place of a pod. */
export interface FakePod {
  readonly url: URL;
  readonly sockets: ReadonlySet<Socket>;
}

/** Starts a server that answers as it is told. */
export async function startPod(listener: RequestListener): Promise<FakePod> {
  const sockets = new Set<Socket>();
  const server = createServer(listener).on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), sockets };
}

/** Answers with the pod's name and with what the pod got. */
export function echo(name: string): RequestListener {
  return (request, response) => {
    void readAll(request).then((body) => {
      const { method, url, headers } = request;
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ name, method, url, headers, body: body.toString("latin1") }));
    });
  };
}

/** Starts a router for a test; gives its URL. */
export async function routerFor(config: RouterConfig, options: Partial<RouterOptions> = {}): Promise<string> {
  const router = await startRouter(config, { port: 0, ...options });
  onTestFinished(() => router.close(0));
  return router.url;
}

/** Starts a router for a test that tells its figures. */
export async function routerWithFigures(
  config: RouterConfig,
): Promise<{ readonly url: string; readonly figures: () => Promise<string> }> {
  const router = await startRouter(config, { port: 0, metrics: { host: "127.0.0.1", port: 0 } });
  onTestFinished(() => router.close(0));
  return { url: router.url, figures: async () => (await call(`${router.metricsUrl}/metrics`)).body };
}

/** An answer with its whole body. */
export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** Calls a server without any of the comforts of `fetch`, which sends and hides some headers itself. */
export function call(url: string, options: RequestOptions = {}, body?: string | Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = send(url, { agent: false, ...options }, (response) => {
      void readAll(response).then((bytes) => {
        const { statusCode: status, headers, rawHeaders } = response;
        resolve({ status, headers, rawHeaders, body: bytes.toString("latin1") });
      }, reject);
    });
    request.on("error", reject).end(body);
  });
}

/** All bytes of a stream. */
export async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** All that comes until a connection is gone, in good order or not: a byte that is sent to a closed end breaks it. */
export async function readUntilGone(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => undefined);
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
  return Buffer.concat(chunks).toString("latin1");
}
