import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isStepsError, messageOf } from "@steps/model";
import { isUnavailable } from "../database/database.ts";
import { Exchange } from "./exchange.ts";
import { HttpError, unavailable } from "./http-error.ts";
import { findRoute, type Route } from "./route.ts";

/** The outcome of a request. */
export interface Answered {
  readonly method: string;
  /** The path of its route, or `other`: never a text that a client sent. */
  readonly route: string;
  readonly status: number;
  /** A mistake of ours. */
  readonly fault?: unknown;
}

/** Serves the routes on a port. The prefix `/pods/N` may stand before any path. */
export async function listen(
  routes: readonly Route[],
  { host, port, prefix }: { readonly host: string; readonly port: number; readonly prefix: string },
  answered: (answer: Answered) => void,
): Promise<Server> {
  const server = createServer({
    keepAliveTimeout: 75_000,
    requestTimeout: 0,
    headersTimeout: 20_000,
    connectionsCheckingInterval: 5_000,
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    void answer(routes, prefix, new Exchange(request, response)).then(answered);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return server;
}

async function answer(routes: readonly Route[], prefix: string, exchange: Exchange): Promise<Answered> {
  const { request, response } = exchange;
  const method = request.method ?? "GET";
  const path = exchange.path.startsWith(`${prefix}/`) ? exchange.path.slice(prefix.length) : exchange.path;
  const id = request.headers["x-request-id"];
  if (typeof id === "string" && /^[\w.-]{1,128}$/.test(id)) response.setHeader("x-request-id", id);
  response.on("error", () => {});
  const found = findRoute(routes, method, path);
  let fault: unknown;
  try {
    if (found === undefined) throw new HttpError(404, "404 Not Found");
    if (found === "method") throw new HttpError(405, "405 Method Not Allowed");
    await found.route.handle(exchange, found.params);
  } catch (error) {
    const failure = httpErrorOf(error);
    if (failure.status === 500) fault = error;
    exchange.json(failure.status, { message: failure.message }, failure.headers);
  }
  const route = found === undefined || found === "method" ? "other" : found.route.path;
  return { method, route, status: response.statusCode, fault };
}

const NO_SPACE: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "53100"]);

/** The codes of PostgreSQL's errors about zero characters, in JSON and elsewhere. */
const UNSTORABLE: ReadonlySet<unknown> = new Set(["22P05", "22021"]);

function httpErrorOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (isUnavailable(error))
    return unavailable("503 Service Unavailable: the database does not answer or takes no changes");
  if (isStepsError(error, "MESSAGE_TOO_LARGE")) return new HttpError(413, messageOf(error));
  if (isStepsError(error, "PIPELINE_INVALID")) return new HttpError(400, messageOf(error));
  if (isStepsError(error, "MESSAGE_INVALID")) return new HttpError(400, messageOf(error));
  if (NO_SPACE.has((error as { readonly code?: unknown } | null)?.code))
    return unavailable("503 Service Unavailable: the disk is full", 10);
  if (UNSTORABLE.has((error as { readonly code?: unknown } | null)?.code))
    return new HttpError(400, "400 Bad Request: a text holds a character that cannot be stored");
  return new HttpError(500, "500 Internal Server Error");
}
