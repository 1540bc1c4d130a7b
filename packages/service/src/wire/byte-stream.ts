import type { IncomingHttpHeaders } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { Http2ServerResponse } from "node:http2";
import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import {
  type RequestHandler,
  type ServerReply,
  type ServerRequest,
  spellTrailers,
} from "../request/request-handler.ts";
import { MAX_TIMER_MS } from "@steps/model";
import type { Log } from "@steps/model/operation";
import type { BodyBudget, BodyRoom } from "../request/body-budget.ts";
import { checkMessage } from "../request/check-message.ts";
import { wireErrorOf } from "./guard-calls.ts";

/** A message with bytes, as it goes onto the wire: what is before them, and the bytes themselves, never copied. */
export interface ByteMessage {
  readonly bytes: Uint8Array;
  /** The message's other fields. */
  readonly fields: Uint8Array;
}

/** A server-streaming call whose messages carry bytes, which are sent as their last field. */
export interface ByteCall<Input extends DescMessage> {
  readonly name: string;
  readonly input: Input;
  /** The number of the field with the bytes. */
  readonly bytesField: number;
  /** Holds a request to the rules of its schema. */
  readonly check: (message: MessageShape<Input>) => Promise<void>;
  readonly messages: (
    message: MessageShape<Input>,
    headers: Headers,
    signal: AbortSignal,
  ) => AsyncIterable<ByteMessage>;
}

const MAX_REQUEST_BYTES = 64 * 1024;
const FRAME_BYTES = 5;

/**
 * Answers a call of gRPC over HTTP/2 without Connect's pipes, which copy every message twice: a log is read at the speed of
 * its reader. Other protocols are left to Connect.
 */
export function serveByteCall<Input extends DescMessage>(
  call: ByteCall<Input>,
  options: Omit<Circumstances, "headers">,
): (request: ServerRequest, reply: ServerReply, otherwise: RequestHandler) => void {
  return (request, reply, otherwise) => {
    if (!(reply instanceof Http2ServerResponse) || !isPlainGrpc(request.headers)) {
      otherwise(request, reply);
      return;
    }
    void answer(call, reply, { headers: request.headers, ...options });
  };
}

function isPlainGrpc(headers: IncomingHttpHeaders): boolean {
  const encoding = headers["grpc-encoding"] ?? "identity";
  return /^application\/grpc(?:\+proto)?$/.test(headers["content-type"] ?? "") && encoding === "identity";
}

interface Circumstances {
  readonly headers: IncomingHttpHeaders;
  readonly log: Log;
  readonly stopped: AbortSignal;
  readonly budget: BodyBudget;
}

async function answer<Input extends DescMessage>(
  call: ByteCall<Input>,
  reply: Http2ServerResponse,
  { headers, log, stopped, budget }: Circumstances,
): Promise<void> {
  const { stream } = reply;
  const signal = signalOf(stream, stopped, headers["grpc-timeout"]);
  let failure: ConnectError | undefined;
  try {
    const message = await readRequest(stream, call.input, budget);
    await call.check(message);
    for await (const piece of call.messages(message, toHeaders(headers), signal)) {
      if (stream.destroyed) return;
      if (!stream.headersSent) respond(stream);
      if (!write(stream, piece, call.bytesField)) await drained(stream);
    }
    signal.throwIfAborted();
  } catch (error) {
    failure = wireErrorOf(error, { signal, name: call.name, log });
  }
  end(reply, failure);
}

function respond(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
}

// The reply sends its trailers by itself when the stream wants them.
function end(reply: Http2ServerResponse, failure: ConnectError | undefined): void {
  const { stream } = reply;
  if (stream.destroyed || stream.closed) return;
  reply.addTrailers(statusOf(failure));
  if (!stream.headersSent) respond(stream);
  stream.end();
}

function statusOf(failure: ConnectError | undefined): Record<string, string> {
  const trailers = new Headers();
  setTrailerStatus(trailers, failure);
  return spellTrailers(Object.fromEntries(trailers as unknown as Iterable<[string, string]>));
}

/** Both parts go down together, and neither is copied. */
function write(stream: ServerHttp2Stream, { bytes, fields }: ByteMessage, bytesField: number): boolean {
  const field = new BinaryWriter().tag(bytesField, WireType.LengthDelimited).uint32(bytes.length).finish();
  const head = Buffer.allocUnsafe(FRAME_BYTES + fields.length + field.length);
  head[0] = 0;
  head.writeUInt32BE(fields.length + field.length + bytes.length, 1);
  head.set(fields, FRAME_BYTES);
  head.set(field, FRAME_BYTES + fields.length);
  stream.cork();
  stream.write(head);
  const hasRoom = stream.write(bytes);
  stream.uncork();
  return hasRoom;
}

function drained(stream: ServerHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off("drain", done);
      stream.off("close", done);
      resolve();
    };
    stream.once("drain", done);
    stream.once("close", done);
  });
}

/** Aborted when the client has gone, when its time is over, or when the service stops. */
function signalOf(stream: ServerHttp2Stream, stopped: AbortSignal, timeout: unknown): AbortSignal {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new ConnectError("The call was cancelled", Code.Canceled));
  const stop = (): void => gone.abort(stopped.reason);
  stream.once("close", () => {
    stopped.removeEventListener("abort", stop);
    leave();
  });
  if (stopped.aborted) stop();
  else stopped.addEventListener("abort", stop, { once: true });
  const ms = timeoutMs(timeout);
  if (ms !== undefined) {
    const late = (): void => gone.abort(new ConnectError("The call's time is over", Code.DeadlineExceeded));
    const timer = setTimeout(late, ms);
    stream.once("close", () => clearTimeout(timer));
  }
  return gone.signal;
}

const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

function timeoutMs(timeout: unknown): number | undefined {
  const match = typeof timeout === "string" ? /^(\d{1,8})([HMSmun])$/.exec(timeout) : null;
  if (match === null) return undefined;
  const ms = Number(match[1]) * (UNITS[match[2] as string] as number);
  return ms > MAX_TIMER_MS ? undefined : ms;
}

async function readRequest<Input extends DescMessage>(
  stream: ServerHttp2Stream,
  schema: Input,
  budget: BodyBudget,
): Promise<MessageShape<Input>> {
  using room = budget.open();
  return await readMessage(stream, schema, room);
}

async function readMessage<Input extends DescMessage>(
  stream: ServerHttp2Stream,
  schema: Input,
  room: BodyRoom,
): Promise<MessageShape<Input>> {
  const body = await receive(stream, room);
  if (body.length < FRAME_BYTES || body[0] !== 0 || body.readUInt32BE(1) !== body.length - FRAME_BYTES)
    throw new ConnectError("The request is not one message that is not compressed", Code.InvalidArgument);
  checkMessage(schema, body.subarray(FRAME_BYTES));
  return fromBinary(schema, body.subarray(FRAME_BYTES));
}

function receive(stream: ServerHttp2Stream, room: BodyRoom): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown): void => {
      stream.off("data", take).resume();
      reject(error);
    };
    const take = (chunk: Buffer): void => {
      if (room.length + chunk.length > MAX_REQUEST_BYTES)
        return refuse(new ConnectError("The request is too large", Code.ResourceExhausted));
      try {
        room.push(chunk);
      } catch (error) {
        refuse(error);
      }
    };
    stream.on("data", take);
    stream.once("end", () => resolve(room.take()));
    stream.once("close", () => reject(new ConnectError("The call was cancelled", Code.Canceled)));
  });
}

function toHeaders(headers: IncomingHttpHeaders): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) result.append(name, one);
  }
  return result;
}
