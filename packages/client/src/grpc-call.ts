import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeFromHttpStatus, findTrailerError } from "@connectrpc/connect/protocol-grpc";
import type { IncomingHttpHeaders } from "node:http2";
import { Http2Call } from "./http2-call.ts";
import type { Http2Session } from "./http2-session.ts";
import { frame, MessageSplitter } from "./message-splitter.ts";
import { toHeaders } from "./to-headers.ts";

/** The largest message that is read, in bytes. Result trees are the largest messages. */
export const MAX_MESSAGE_BYTES: number = 64 << 20;

/** The headers, the signal and the time limit of one call. */
export interface GrpcOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

type Method<I extends DescMessage, O extends DescMessage> = DescMethodUnary<I, O> | DescMethodServerStreaming<I, O>;

/** A call with one answer. @throws {ConnectError} */
export async function callUnary<I extends DescMessage, O extends DescMessage>(
  session: Http2Session,
  call: { readonly method: DescMethodUnary<I, O>; readonly input: MessageInitShape<I> },
  options: GrpcOptions,
): Promise<MessageShape<O>> {
  let answer: MessageShape<O> | undefined;
  for await (const message of callStream(session, call, options)) answer ??= message;
  if (answer === undefined) throw new ConnectError("The service answered without a message", Code.Internal);
  return answer;
}

/**
 * A call with any number of answers. gRPC as the service and GitLab's runner speak it: no compression, one message in. Ends
 * with its reader.
 *
 * @throws {ConnectError} with the service's code; `Unavailable` when the call was lost; `Canceled`, `DeadlineExceeded`
 */
export async function* callStream<I extends DescMessage, O extends DescMessage>(
  session: Http2Session,
  call: { readonly method: Method<I, O>; readonly input: MessageInitShape<I> },
  options: GrpcOptions,
): AsyncGenerator<MessageShape<O>, void, undefined> {
  const splitter = new MessageSplitter(MAX_MESSAGE_BYTES);
  for await (const bytes of callSplit(session, { ...call, splitter }, options)) yield parse(call.method.output, bytes);
}

/** Turns the body of a call, chunk by chunk, into values. */
export interface Splitter<T> {
  /** True when no part of a further value has arrived. */
  readonly isEmpty: boolean;
  push(chunk: Uint8Array): void;
  shift(): T | undefined;
}

/** A call whose answers are split in another way than into messages. @throws as {@link callStream} does */
export async function* callSplit<I extends DescMessage, O extends DescMessage, T>(
  session: Http2Session,
  {
    method,
    input,
    splitter,
  }: { readonly method: Method<I, O>; readonly input: MessageInitShape<I>; readonly splitter: Splitter<T> },
  options: GrpcOptions,
): AsyncGenerator<T, void, undefined> {
  const message = frame(toBinary(method.input, create(method.input, input)));
  using call = open(session, `/${method.parent.typeName}/${method.name}`, options);
  call.send(message);
  checkHeaders(await call.response);
  for (;;) {
    const chunk = call.shift() ?? (await call.read());
    if (chunk === undefined) break;
    splitter.push(chunk);
    for (let part = splitter.shift(); part !== undefined; part = splitter.shift()) yield part;
  }
  const error = findTrailerError(call.trailer);
  if (error !== undefined) throw error;
  if (!splitter.isEmpty) throw new ConnectError("The service cut a message short", Code.Internal);
}

function open(
  session: Http2Session,
  path: string,
  { headers, signal, timeoutMs }: GrpcOptions,
): Http2Call & Disposable {
  if (signal?.aborted === true) throw ConnectError.from(signal.reason, Code.Canceled);
  const stream = session.request({
    ...headers,
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc+proto",
    "user-agent": "steps-client",
    te: "trailers",
    ...(timeoutMs === undefined ? {} : { "grpc-timeout": `${Math.ceil(timeoutMs)}m` }),
  });
  const call = new Http2Call(stream, session.lost);
  const onAbort = (): void => call.fail(ConnectError.from(signal?.reason, Code.Canceled));
  signal?.addEventListener("abort", onAbort, { once: true });
  const onTimeout = (): void =>
    call.fail(
      new ConnectError(`The service did not answer within ${(timeoutMs ?? 0) / 1000} s`, Code.DeadlineExceeded),
    );
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs);
  return Object.assign(call, {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      call.fail(new ConnectError("The call was ended by its caller", Code.Canceled));
    },
  });
}

/** An error may stand in the headers, when there is nothing else to say. */
function checkHeaders(headers: IncomingHttpHeaders): void {
  const status = Number(headers[":status"] ?? 0);
  if (status !== 200)
    throw new ConnectError(`The service answered with HTTP status ${status}`, codeFromHttpStatus(status));
  if (headers["content-type"]?.startsWith("application/grpc") !== true)
    throw new ConnectError(`The service answered with "${headers["content-type"] ?? ""}"`, Code.Unknown);
  const error = headers["grpc-status"] === undefined ? undefined : findTrailerError(toHeaders(headers));
  if (error !== undefined) throw error;
}

function parse<O extends DescMessage>(schema: O, bytes: Uint8Array): MessageShape<O> {
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    throw new ConnectError("The service sent a message that is none", Code.Internal, undefined, undefined, cause);
  }
}
