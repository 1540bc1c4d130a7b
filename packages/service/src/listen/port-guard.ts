import { timingSafeEqual } from "node:crypto";
import { cors } from "@connectrpc/connect";
import { sha256 } from "@steps/platform";
import { TOKEN_HEADER } from "../wire/job-access.ts";
import { ERROR_HEADER } from "../wire/connect-error.ts";
import { isOpenRequest } from "../request/open-requests.ts";
import { end, type RequestHandler, type ServerReply, type ServerRequest } from "../request/request-handler.ts";

/** The rules by which calls over TCP are let in. */
export interface PortRules {
  /** The token that calls carry as `authorization: Bearer …`. When undefined, everybody is let in except web pages. */
  readonly token: string | undefined;
  /** The name or address that the service was told to listen on. */
  readonly host: string;
  /**
   * True when `host` is a loopback address: a call by another name then comes from a web page that was led here by its
   * DNS.
   */
  readonly isLoopback: boolean;
}

/** Lets through what obeys the rules; answers the preflight requests of browsers. */
export function guardPort(handle: RequestHandler, rules: PortRules): RequestHandler {
  return (request, reply) => {
    request.on("error", () => undefined);
    reply.on("error", () => undefined);
    const { origin } = request.headers;
    if (rules.isLoopback && !isOwnName(hostOf(request), rules.host))
      return refuse(request, reply, 403, "permission_denied", "The service is called by a name that is not its own");
    if (isOpenRequest(request)) return handle(request, reply);
    if (origin !== undefined && rules.token === undefined)
      return refuse(request, reply, 403, "permission_denied", "Web pages may not call a service without a token");
    if (origin !== undefined) allowOrigin(reply, origin);
    if (request.method === "OPTIONS") return preflight(request, reply);
    if (rules.token !== undefined && !hasToken(request, rules.token)) {
      reply.setHeader("www-authenticate", "Bearer");
      return refuse(request, reply, 401, "unauthenticated", "The call has no token, or a wrong one");
    }
    return handle(request, reply);
  };
}

function hostOf(request: ServerRequest): string {
  return ("authority" in request ? request.authority : undefined) ?? request.headers.host ?? "";
}

/** Accepts the host that the service was told, `localhost`, 127.0.0.0/8 and `[::1]`, with a port or without. */
function isOwnName(authority: string, host: string): boolean {
  const name = authority.replace(/:\d+$/, "").toLowerCase();
  return name === host.toLowerCase() || /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(name);
}

function hasToken(request: ServerRequest, token: string): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
  // Digests have one length, so that nothing is told by the time that comparing takes.
  return given !== undefined && timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(token)));
}

const ALLOWED_HEADERS = [...cors.allowedHeaders, "authorization", TOKEN_HEADER].join(", ");
const EXPOSED_HEADERS = [...cors.exposedHeaders, ERROR_HEADER].join(", ");

function allowOrigin(reply: ServerReply, origin: string): void {
  reply.setHeader("access-control-allow-origin", origin);
  reply.setHeader("vary", "origin");
  reply.setHeader("access-control-expose-headers", EXPOSED_HEADERS);
}

function preflight(request: ServerRequest, reply: ServerReply): void {
  const headers = {
    "access-control-allow-methods": cors.allowedMethods.join(", "),
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": "7200",
  };
  end(request, reply, { status: 204, headers });
}

type Refusal = readonly [status: number, code: string, message: string];

// The form of Connect's errors; gRPC clients read the HTTP status.
function refuse(request: ServerRequest, reply: ServerReply, ...[status, code, message]: Refusal): void {
  const headers = { "content-type": "application/json" };
  end(request, reply, { status, headers, body: JSON.stringify({ code, message }) });
}
