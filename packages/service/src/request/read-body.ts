import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { BodyRoom } from "./body-budget.ts";
import { checkJson } from "./check-json.ts";
import { checkMessage } from "./check-message.ts";

/** How messages stand in a body. */
export interface BodyForm {
  /** Each message has its length before it. */
  readonly isEnveloped: boolean;
  readonly isJson: boolean;
}

const TYPES = /^application\/(?:(?:grpc|grpc-web|connect)(?:\+(?:proto|(?<json>json)))?|(?<whole>proto|json))$/;

/** The form that a content type names: those of gRPC, gRPC-Web and Connect; `undefined` for one that nobody reads. */
export function bodyFormOf(contentType: string): BodyForm | undefined {
  const match = TYPES.exec((contentType.split(";", 1)[0] as string).trim().toLowerCase());
  if (match === null) return undefined;
  const { json, whole } = match.groups as { readonly json?: string; readonly whole?: string };
  return { isEnveloped: whole === undefined, isJson: json !== undefined || whole === "json" };
}

/** A body that has to be read. */
export interface BodyToRead {
  readonly method: DescMethod;
  readonly form: BodyForm;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly room: BodyRoom;
  /** The greatest size of a message in bytes. */
  readonly maxBytes: number;
  /** Waited for when a message is whole, before anything is made of it. */
  readonly onWhole: (bytes: number) => Promise<void>;
}

const HEAD_BYTES = 5;

/**
 * The messages of a body, each in one piece as it came, its envelope with it. Each is held to its schema and to the limits of
 * a request before anybody decodes it.
 *
 * @throws {ConnectError} INVALID_ARGUMENT for what is no message; RESOURCE_EXHAUSTED for one that is too large
 */
export async function* readBody(body: BodyToRead): AsyncGenerator<Uint8Array, void, undefined> {
  yield* body.form.isEnveloped ? readEnvelopes(body) : readWhole(body);
}

async function* readWhole({ chunks, room, ...body }: BodyToRead): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    if (room.length + chunk.length > body.maxBytes) throw tooLarge(body.maxBytes);
    room.push(chunk);
  }
  await body.onWhole(room.length);
  const message = room.take();
  check(body, message);
  if (message.length > 0) yield message;
}

async function* readEnvelopes({ chunks, room, ...body }: BodyToRead): AsyncGenerator<Uint8Array, void, undefined> {
  const isOne = body.method.methodKind === "unary" || body.method.methodKind === "server_streaming";
  let messages = 0;
  const head = Buffer.alloc(HEAD_BYTES);
  for await (let chunk of chunks) {
    while (chunk.length > 0) {
      if (isOne && messages === 1) throw invalid("The call takes one message, and there are more");
      const end = room.length < HEAD_BYTES ? HEAD_BYTES : HEAD_BYTES + head.readUInt32BE(1);
      const piece = chunk.subarray(0, end - room.length);
      if (room.length < HEAD_BYTES) head.set(piece, room.length);
      room.push(piece);
      chunk = chunk.subarray(piece.length);
      if (room.length === HEAD_BYTES) checkHead(head, body.maxBytes);
      if (room.length < HEAD_BYTES || room.length < HEAD_BYTES + head.readUInt32BE(1)) continue;
      messages++;
      await body.onWhole(room.length);
      const envelope = room.take();
      check(body, envelope.subarray(HEAD_BYTES));
      yield envelope;
    }
  }
  if (room.length > 0) throw invalid("The request is cut short");
}

function checkHead(head: Buffer, maxBytes: number): void {
  if (head[0] !== 0) throw invalid("The message is compressed, or is none");
  if (head.readUInt32BE(1) > maxBytes) throw tooLarge(maxBytes);
}

function check({ method, form }: Pick<BodyToRead, "method" | "form">, message: Uint8Array): void {
  if (form.isJson) checkJson(message);
  else checkMessage(method.input, message);
}

function invalid(text: string): ConnectError {
  return new ConnectError(text, Code.InvalidArgument);
}

function tooLarge(maxBytes: number): ConnectError {
  return new ConnectError(`The request is larger than ${maxBytes} bytes`, Code.ResourceExhausted);
}
