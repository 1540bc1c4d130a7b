import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "@steps/model";
import { isAuthorized } from "./auth/runtime-token.ts";
import { systemCode } from "./error.ts";
import type { OnNote, ServiceLimits } from "./options.ts";
import type { Blobs } from "./blob/blob-routes.ts";
import { drain } from "./http/body.ts";
import type { Route } from "./http/context.ts";
import { HttpError } from "./http/http-error.ts";
import { sendBytes, sendJson } from "./http/send.ts";

const FULL_DISK = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
/** The codes of the errors that a client leaves behind when it goes away. */
const GONE = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ERR_STREAM_DESTROYED"]);

/** Finds who answers a request, after its token or signature, and turns what is thrown into an answer. */
export function createDispatch(options: {
  readonly token: string;
  readonly routes: readonly Route[];
  readonly blobs: Blobs;
  readonly limits: ServiceLimits;
  readonly onNote: OnNote;
}): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { limits, blobs, onNote } = options;
  return async (request, response) => {
    const url = parseUrl(request.url);
    try {
      if (url === undefined) throw new HttpError(400, "invalid_argument", "The request's URL is malformed");
      if (url.pathname.startsWith("/blobs/")) return await blobs.handle({ request, response, url, limits });
      if (!isAuthorized(request.headers.authorization, options.token)) {
        throw new HttpError(401, "unauthenticated", "The token is missing or wrong");
      }
      const { route, params } = findRoute(options.routes, request.method ?? "", url.pathname);
      await route.handle({ request, response, url, limits, params });
    } catch (error) {
      await answerError(error, { request, response, url, onNote });
    }
  };
}

/** Parses a request's path and query. The host does not matter, so nothing in a path may be read as one. */
function parseUrl(path: string | undefined): URL | undefined {
  const text = `http://localhost${path}`;
  return path?.startsWith("/") === true && URL.canParse(text) ? new URL(text) : undefined;
}

function findRoute(
  routes: readonly Route[],
  method: string,
  path: string,
): { readonly route: Route; readonly params: readonly string[] } {
  let isKnown = false;
  for (const route of routes) {
    const match = route.path.exec(path);
    if (match === null) continue;
    if (route.method === method) return { route, params: match.slice(1) };
    isKnown = true;
  }
  if (isKnown) throw new HttpError(405, "bad_route", "The method does not go with this path");
  throw new HttpError(404, "bad_route", "Nothing answers at this path");
}

interface Failure {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL | undefined;
  readonly onNote: OnNote;
}

async function answerError(thrown: unknown, failure: Failure): Promise<void> {
  const { request, response, url, onNote } = failure;
  const isGone = request.destroyed && !request.complete;
  if (isGone || response.headersSent || GONE.has(systemCode(thrown) ?? "")) {
    response.destroy();
    return;
  }
  const error = asHttpError(thrown);
  const path = url?.pathname.replace(/^\/blobs\/(\w+)\/.*/, "/blobs/$1") ?? "";
  if (error.status >= 500) {
    onNote("service-failed", `${request.method} ${path} failed: ${messageOf(thrown)}`);
  } else if (error.status === 413 || error.status === 400) {
    onNote("request-refused", `${request.method} ${path} was refused: ${error.message}`);
  }
  // If a body stayed unread, the next request would begin in the middle of it.
  if (!request.complete) response.setHeader("Connection", "close");
  await drain(request);
  writeError(response, error, path);
}

function asHttpError(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  if (FULL_DISK.has(systemCode(thrown) ?? "")) return new HttpError(507, "resource_exhausted", "The disk is full");
  // The details of an internal fault are of no use to a client.
  return new HttpError(500, "internal", "The service failed");
}

/** Answers with an error in the form of the protocol that the path belongs to. */
function writeError(response: ServerResponse, error: HttpError, path: string): void {
  const { status, code, message } = error;
  if (path.startsWith("/twirp/")) {
    sendJson(response, status, { code, msg: message });
  } else if (path.startsWith("/blobs/")) {
    response.setHeader("x-ms-error-code", code);
    const body = `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
    sendBytes(response, status, { type: "application/xml", body: Buffer.from(body) });
  } else {
    const typeKey = status === 409 ? "ArtifactCacheItemAlreadyExistsException" : code;
    sendJson(response, status, { message, typeKey, errorCode: 0 });
  }
}
