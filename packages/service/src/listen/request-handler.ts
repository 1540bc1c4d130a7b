import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Stream } from "node:http2";
import { Code, ConnectError, type createConnectRouter } from "@connectrpc/connect";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { BodyBudget } from "./body-budget.ts";
import { describeFault, type OperatorLog } from "../operator-log.ts";

/** A request of either kind of server. */
export type ServerRequest = IncomingMessage | Http2ServerRequest;
/** The response that belongs to it. */
export type ServerReply = ServerResponse | Http2ServerResponse;
/** Answers a request. */
export type RequestHandler = (request: ServerRequest, reply: ServerReply) => void;

/** Answers some requests of a path by itself, and leaves the others. */
export type Shortcut = (request: ServerRequest, reply: ServerReply, otherwise: RequestHandler) => void;

type Handlers = ReturnType<typeof createConnectRouter>["handlers"];
type Handler = Handlers[number];

/**
 * Serves the handlers of a router. Unlike connect-node's own adapter it takes requests whose `:authority` is no host,
 * as clients of unix sockets send them, writes nothing to the terminal, and tells gRPC clients what is not there.
 */
export function createRequestHandler(
  handlers: Handlers,
  log: OperatorLog,
  shortcuts: ReadonlyMap<string, Shortcut> = new Map(),
): RequestHandler {
  const budget = new BodyBudget();
  const byPath = new Map<string, Handler>(handlers.map((handler) => [handler.requestPath, handler]));
  return (request, reply) => {
    reply.on("error", () => undefined);
    request.on("error", () => undefined);
    const shortcut = shortcuts.get(request.url ?? "");
    if (shortcut === undefined) whole(request, reply);
    else shortcut(request, reply, whole);
  };

  function whole(request: ServerRequest, reply: ServerReply): void {
    const handler = byPath.get(request.url?.split("?", 1)[0] ?? "");
    if (handler === undefined) {
      refuseUnknown(request, reply);
      return;
    }
    void serve(handler, { request, reply, budget }).catch((error: unknown) => {
      // A client that went away is everyday life; what a handler throws was told where it was thrown.
      if (!isLostClient(error, reply)) log(`${handler.requestPath} could not be answered: ${describeFault(error)}`);
      reply.destroy();
    });
  }
}

async function serve(
  handler: Handler,
  { request, reply, budget }: { request: ServerRequest; reply: ServerReply; budget: BodyBudget },
): Promise<void> {
  const given = "authority" in request ? request.authority : request.headers.host;
  if (!isAuthority(given)) replaceAuthority(request);
  const call = universalRequestFromNodeRequest(request, reply as never, undefined, undefined);
  const body = budget.take(call.body as AsyncIterable<Uint8Array>);
  reply.once("close", () => body[Symbol.dispose]());
  const answer = await handler({ ...call, body });
  spellMessage(reply);
  if ("stream" in reply) reply.stream.once("wantTrailers", () => setImmediate(stopSending, reply.stream));
  await universalResponseToNodeResponse(answer, reply);
}

// RFC 9113, 8.1: a client that still sends what was answered already is told so, or it would wait for room for ever.
function stopSending(stream: ServerHttp2Stream): void {
  if (stream.closed || stream.state.remoteClose !== 0) return;
  stream.close(constants.NGHTTP2_NO_ERROR);
  // What has come and is not read would hold it open.
  stream.destroy();
}

function isAuthority(text: string | undefined): boolean {
  return text !== undefined && text !== "" && URL.canParse(`http://${text}`);
}

// Nothing here depends on the name that we are called by, but the library makes a URL of it.
function replaceAuthority(request: ServerRequest): void {
  if ("authority" in request) Object.defineProperty(request, "authority", { value: "localhost" });
  else request.headers.host = "localhost";
}

/** What writing says when the other side is not there any more. */
const GONE: ReadonlySet<unknown> = new Set(["ECANCELED", "ECONNRESET", "EPIPE"]);

function isLostClient(error: unknown, reply: ServerReply): boolean {
  const { code, cause } = ConnectError.from(error);
  if (reply.destroyed || code === Code.Aborted || code === Code.Canceled) return true;
  return cause instanceof Error && GONE.has((cause as NodeJS.ErrnoException).code);
}

function spellMessage(reply: ServerReply): void {
  const addTrailers = reply.addTrailers.bind(reply);
  reply.addTrailers = (trailers: Record<string, string>) => addTrailers(spellTrailers(trailers));
}

/** The library encodes more of an error's text than gRPC says, and some clients decode only what gRPC says. */
export function spellTrailers(trailers: Readonly<Record<string, string>>): Record<string, string> {
  const message = trailers["grpc-message"];
  if (message === undefined) return trailers;
  return { ...trailers, "grpc-message": percentEncode(decodeURIComponent(message)) };
}

/** As gRPC has it: what is no printable ASCII, and the percent sign. */
export function percentEncode(text: string): string {
  return text.replaceAll(/[^ -$&-~]+/gu, encodeURIComponent);
}

function refuseUnknown(request: ServerRequest, reply: ServerReply): void {
  if (/^application\/grpc(?:$|[+;])/.test(request.headers["content-type"] ?? "")) {
    reply.addTrailers({ "grpc-status": String(Code.Unimplemented), "grpc-message": "There is no such method" });
    end(request, reply, { status: 200, headers: { "content-type": "application/grpc" } });
    return;
  }
  const body = JSON.stringify({ code: "unimplemented", message: "There is no such method" });
  end(request, reply, { status: 404, headers: { "content-type": "application/json" }, body });
}

/** A response that is known as a whole. */
export interface WholeReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Answers a request that nobody reads. */
export function end(request: ServerRequest, reply: ServerReply, { status, headers, body = "" }: WholeReply): void {
  // As long as there is something to read the call is not over.
  request.resume();
  reply.statusCode = status;
  for (const [name, value] of Object.entries(headers)) reply.setHeader(name, value);
  reply.end(body);
}
