import { createServer, STATUS_CODES } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the server saw it, before it answered. */
export interface ServedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/**
 * The action of a server that does not answer properly: silence for ever, a redirect, a status, or a cut in mid-answer.
 */
export type Intervention =
  | "hang"
  | "reset"
  | { readonly redirect: string; readonly status?: number }
  | {
      readonly status: number;
      /** What stands beside the status, by default its usual name. */
      readonly reason?: string;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** The options that all test servers have. */
export interface HttpServerOptions {
  /** Basic credentials that every request must carry. */
  readonly auth?: { readonly username: string; readonly password: string };
  /** Sees each request first and may take it over. */
  readonly onRequest?: (request: ServedRequest) => Intervention | undefined | void;
  /** Waits before each answer. */
  readonly delayMs?: number;
}

export interface RunningServer {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string;
  readonly requests: ServedRequest[];
  close(): Promise<void>;
}

/** Starts an HTTP server on a free port of the loopback interface; the options come before the handler. */
export async function startHttpServer(
  options: HttpServerOptions,
  handle: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<RunningServer> {
  const requests: ServedRequest[] = [];
  const listener: RequestListener = (request, response) => {
    const seen = describe(request);
    requests.push(seen);
    const answer = (): void => {
      if (intervene(seen, response, options)) return;
      Promise.resolve(handle(request, response)).catch((error: unknown) => response.destroy(error as Error));
    };
    if (options.delayMs === undefined) answer();
    else setTimeout(answer, options.delayMs);
  };
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, close: () => close(server) };
}

function describe(request: IncomingMessage): ServedRequest {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return { method: request.method ?? "GET", url: request.url ?? "/", headers };
}

function intervene(seen: ServedRequest, response: ServerResponse, options: HttpServerOptions): boolean {
  const intervention = options.onRequest?.(seen);
  if (intervention === "hang") return true;
  if (intervention === "reset") {
    response.socket?.destroy();
    return true;
  }
  if (intervention !== undefined && "redirect" in intervention) {
    response.writeHead(intervention.status ?? 302, { location: intervention.redirect }).end();
    return true;
  }
  if (intervention !== undefined) {
    const { status, reason = STATUS_CODES[status], headers = {}, body = "" } = intervention;
    response.writeHead(status, reason, headers).end(body);
    return true;
  }
  const { auth } = options;
  if (auth === undefined) return false;
  const expected = `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString("base64")}`;
  if (seen.headers["authorization"] === expected) return false;
  response.writeHead(401, { "www-authenticate": 'Basic realm="test"' }).end("denied");
  return true;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
