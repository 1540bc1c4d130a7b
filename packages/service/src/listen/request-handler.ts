import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { Code, ConnectError, type createConnectRouter } from "@connectrpc/connect";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { describeFault, type OperatorLog } from "../operator-log.ts";

/** A request of either kind of server. */
export type ServerRequest = IncomingMessage | Http2ServerRequest;
/** The response that belongs to it. */
export type ServerReply = ServerResponse | Http2ServerResponse;
/** Answers a request. */
export type RequestHandler = (request: ServerRequest, reply: ServerReply) => void;

type Handlers = ReturnType<typeof createConnectRouter>["handlers"];
type Handler = Handlers[number];

/**
 * Serves the handlers of a router. Unlike connect-node's own adapter it takes requests whose `:authority` is no host,
 * as clients of unix sockets send them, writes nothing to the terminal, and tells gRPC clients what is not there.
 */
export function createRequestHandler(handlers: Handlers, log: OperatorLog): RequestHandler {
  const byPath = new Map<string, Handler>(handlers.map((handler) => [handler.requestPath, handler]));
  return (request, reply) => {
    reply.on("error", () => undefined);
    request.on("error", () => undefined);
    const handler = byPath.get(request.url?.split("?", 1)[0] ?? "");
    if (handler === undefined) {
      refuseUnknown(request, reply);
      return;
    }
    void serve(handler, request, reply).catch((error: unknown) => {
      // A client that went away is everyday life; what a handler throws was told where it was thrown.
      if (!isLostClient(error, reply)) log(`${handler.requestPath} could not be answered: ${describeFault(error)}`);
      reply.destroy();
    });
  };
}

async function serve(handler: Handler, request: ServerRequest, reply: ServerReply): Promise<void> {
  const given = "authority" in request ? request.authority : request.headers.host;
  if (!isAuthority(given)) replaceAuthority(request);
  const answer = await handler(universalRequestFromNodeRequest(request, reply as never, undefined, undefined));
  await universalResponseToNodeResponse(answer, reply);
}

function isAuthority(text: string | undefined): boolean {
  return text !== undefined && text !== "" && URL.canParse(`http://${text}`);
}

// Nothing here depends on the name that we are called by, but the library makes a URL of it.
function replaceAuthority(request: ServerRequest): void {
  if ("authority" in request) Object.defineProperty(request, "authority", { value: "localhost" });
  else request.headers.host = "localhost";
}

function isLostClient(error: unknown, reply: ServerReply): boolean {
  const { code } = ConnectError.from(error);
  return reply.destroyed || code === Code.Aborted || code === Code.Canceled;
}

function refuseUnknown(request: ServerRequest, reply: ServerReply): void {
  request.resume();
  if (/^application\/grpc(?:$|[+;])/.test(request.headers["content-type"] ?? "")) {
    const headers = { "content-type": "application/grpc", "grpc-status": String(Code.Unimplemented) };
    end(reply, 200, { ...headers, "grpc-message": "There is no such method" });
    return;
  }
  const body = JSON.stringify({ code: "unimplemented", message: "There is no such method" });
  end(reply, 404, { "content-type": "application/json" }, body);
}

/** Answers with a whole response. */
export function end(reply: ServerReply, status: number, headers: Record<string, string>, body = ""): void {
  reply.statusCode = status;
  for (const [name, value] of Object.entries(headers)) reply.setHeader(name, value);
  reply.end(body);
}
