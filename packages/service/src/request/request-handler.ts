import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Stream } from "node:http2";
import { Code, ConnectError, type createConnectRouter } from "@connectrpc/connect";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { Log } from "@steps/model/operation";
import { describeFault } from "../describe-fault.ts";
import { bodyFormOf, readBody } from "./read-body.ts";
import type { BodyBudget } from "./body-budget.ts";
import { Turns } from "./turns.ts";

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

/** How requests are read and answered. */
export interface RequestHandlerOptions {
  readonly log: Log;
  readonly budget: BodyBudget;
  /** Returns the greatest size of a message in bytes, by the path of its call. */
  readonly maxBytesOf: (path: string) => number;
  readonly shortcuts?: ReadonlyMap<string, Shortcut>;
}

/** Requests from this size on are made something of one at a time: each takes several times its size while it is. */
const LARGE_BYTES = 256 * 1024;

/**
 * Serves the handlers of a router. Unlike connect-node's own adapter it takes requests whose `:authority` is no host,
 * as clients of unix sockets send them, writes nothing to the terminal, and tells gRPC clients what is not there.
 */
export function createRequestHandler(handlers: Handlers, options: RequestHandlerOptions): RequestHandler {
  const { log, shortcuts } = options;
  const turns = new Turns();
  const byPath = new Map<string, Handler>(handlers.map((handler) => [handler.requestPath, handler]));
  return (request, reply) => {
    reply.on("error", () => undefined);
    request.on("error", () => undefined);
    const shortcut = shortcuts?.get(request.url ?? "");
    if (shortcut === undefined) whole(request, reply);
    else shortcut(request, reply, whole);
  };

  function whole(request: ServerRequest, reply: ServerReply): void {
    const handler = byPath.get(request.url?.split("?", 1)[0] ?? "");
    if (handler === undefined) {
      refuseUnknown(request, reply);
      return;
    }
    void serve(handler, { request, reply, turns, ...options }).catch((error: unknown) => {
      // A client that went away is everyday life; what a handler throws was told where it was thrown.
      if (!isLostClient(error, reply))
        log("error", "A call could not be answered", {
          call: handler.requestPath.slice(1),
          fault: describeFault(error),
        });
      reply.destroy();
    });
  }
}

interface ToServe extends RequestHandlerOptions {
  readonly request: ServerRequest;
  readonly reply: ServerReply;
  readonly turns: Turns;
}

async function serve(handler: Handler, { request, reply, ...options }: ToServe): Promise<void> {
  const given = "authority" in request ? request.authority : request.headers.host;
  if (!isAuthority(given)) replaceAuthority(request);
  const call = universalRequestFromNodeRequest(request, reply as never, undefined, undefined);
  const answer = await answerCall(handler, call, { reply, ...options });
  spellMessage(reply);
  if ("stream" in reply) reply.stream.once("wantTrailers", () => setImmediate(stopSending, reply.stream));
  await universalResponseToNodeResponse(answer, reply);
}

async function answerCall(
  handler: Handler,
  call: UniversalServerRequest,
  { reply, turns, budget, maxBytesOf }: Omit<ToServe, "request">,
): Promise<UniversalServerResponse> {
  const form = bodyFormOf(call.header.get("content-type") ?? "");
  // Nobody reads the body of a type that nobody knows.
  if (form === undefined) return await handler({ ...call, body: noBody() });
  const room = budget.open();
  reply.once("close", () => room[Symbol.dispose]());
  using turn = new DisposableStack();
  const body = readBody({
    method: handler.method,
    form,
    chunks: call.body as AsyncIterable<Uint8Array>,
    room,
    maxBytes: maxBytesOf(handler.requestPath),
    onWhole: async (bytes) => {
      if (bytes >= LARGE_BYTES) turn.use(await turns.take());
    },
  });
  return await handler({ ...call, body });
}

async function* noBody(): AsyncGenerator<Uint8Array, void, undefined> {}

// RFC 9113, 8.1: a client that still sends what was answered already is told so, or it would wait for room for ever.
function stopSending(stream: ServerHttp2Stream): void {
  if (stream.closed || stream.state.remoteClose !== 0) return;
  stream.close(constants.NGHTTP2_NO_ERROR);
  // A body that has arrived and is not read would hold the stream open.
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

/** The codes of errors that a write reports when the other side is gone. */
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

/** Encodes text as gRPC does: all but printable ASCII, and the percent sign, is escaped. */
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
