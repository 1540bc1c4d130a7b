import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalClientFn, UniversalClientRequest, UniversalClientResponse } from "@connectrpc/connect/protocol";
import { constants, type OutgoingHttpHeaders } from "node:http2";
import { Http2Call } from "./http2-call.ts";
import type { Http2Session } from "./http2-session.ts";
import { toHeaders } from "./to-headers.ts";

/** What Connect's transports make their calls with: each is a stream of the one session. */
export function createHttp2Client(session: Http2Session): UniversalClientFn {
  return (request) => send(session, request);
}

async function send(session: Http2Session, request: UniversalClientRequest): Promise<UniversalClientResponse> {
  const { signal } = request;
  if (signal?.aborted === true) throw reasonOf(signal);
  const url = new URL(request.url);
  const stream = session.request({
    ...Object.fromEntries(request.header as unknown as Iterable<[string, string]>),
    [constants.HTTP2_HEADER_METHOD]: request.method,
    [constants.HTTP2_HEADER_PATH]: `${url.pathname}${url.search}`,
  } satisfies OutgoingHttpHeaders);
  const call = new Http2Call(stream, session.lost);
  if (signal !== undefined) {
    const onAbort = (): void => call.fail(reasonOf(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    stream.once("close", () => signal.removeEventListener("abort", onAbort));
  }
  void call.write(request.body);
  const headers = await call.response;
  return {
    status: Number(headers[constants.HTTP2_HEADER_STATUS] ?? 0),
    header: toHeaders(headers),
    body: call,
    trailer: call.trailer,
  };
}

function reasonOf(signal: AbortSignal): ConnectError {
  return ConnectError.from(signal.reason, Code.Canceled);
}
