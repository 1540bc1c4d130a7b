import { badRequest } from "../http/http-error.ts";
import type { Field, FieldValue, Message, MessageType } from "./message.ts";

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const MAX_VARINT_BYTES = 10;

/** Reads a message in protobuf's binary form, as clients that are not written in JavaScript send it. */
export function messageFromBinary(type: MessageType, bytes: Buffer): Message {
  const message: Record<string, FieldValue> = {};
  for (const { no, wire } of wireFields(bytes)) {
    const field = type.find((one) => one.no === no);
    if (field === undefined) continue;
    const before = message[field.name];
    message[field.name] = valueFromWire(field, wire, Array.isArray(before) ? (before as string[]) : []);
  }
  return message;
}

/** Writes a message in protobuf's binary form. */
export function messageToBinary(type: MessageType, message: Message): Buffer {
  const parts = type.flatMap((field) => {
    const value = message[field.name];
    return value === undefined ? [] : valueToWire(field, value);
  });
  return Buffer.concat(parts);
}

/** A number, or bytes. */
type Wire = bigint | Buffer;

function* wireFields(bytes: Buffer): Generator<{ readonly no: number; readonly wire: Wire }> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let length = 0; length < MAX_VARINT_BYTES; length += 1) {
      const byte = bytes[at];
      if (byte === undefined) throw malformed();
      at += 1;
      value |= BigInt(byte & 0x7f) << BigInt(7 * length);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw malformed();
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw malformed();
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const kind = tag % 8;
    const no = Math.floor(tag / 8);
    if (kind === VARINT) yield { no, wire: varint() };
    else if (kind === BYTES) yield { no, wire: take(Number(varint())) };
    else if (kind === FIXED64) take(8);
    else if (kind === FIXED32) take(4);
    else throw malformed();
  }
}

function valueFromWire({ kind }: Field, wire: Wire, before: readonly string[]): FieldValue {
  if (typeof wire === "bigint") {
    if (kind === "int64") return String(BigInt.asIntN(64, wire));
    if (kind === "bool") return wire !== 0n;
    throw malformed();
  }
  if (kind === "text") return wire.toString("utf8");
  if (kind === "texts") return [...before, wire.toString("utf8")];
  const inner = [...wireFields(wire)].findLast(({ no }) => no === 1)?.wire;
  if (kind === "wrapped-text" && typeof inner !== "bigint") return (inner ?? Buffer.alloc(0)).toString("utf8");
  if (kind === "wrapped-int64" && !Buffer.isBuffer(inner)) return String(BigInt.asIntN(64, inner ?? 0n));
  // Times are only ever asked for, and not used.
  if (kind === "time") return "";
  throw malformed();
}

function valueToWire({ no, kind, fields = [] }: Field, value: FieldValue): readonly Buffer[] {
  if (kind === "bool") return value === true ? [tagged(no, VARINT), encodeVarint(1n)] : [];
  if (kind === "int64") return [tagged(no, VARINT), encodeVarint(BigInt(value as string))];
  if (kind === "wrapped-int64") return nested(no, [tagged(1, VARINT), encodeVarint(BigInt(value as string))]);
  if (kind === "wrapped-text") return nested(no, nested(1, [Buffer.from(value as string)]));
  if (kind === "texts") return (value as readonly string[]).flatMap((text) => nested(no, [Buffer.from(text)]));
  if (kind === "messages") {
    return (value as readonly Message[]).flatMap((one) => nested(no, [messageToBinary(fields, one)]));
  }
  if (kind === "time") {
    const ms = Date.parse(value as string);
    const nanos = BigInt(((ms % 1000) + 1000) % 1000) * 1_000_000n;
    const seconds = BigInt(Math.floor(ms / 1000));
    return nested(no, [tagged(1, VARINT), encodeVarint(seconds), tagged(2, VARINT), encodeVarint(nanos)]);
  }
  return nested(no, [Buffer.from(value as string)]);
}

function nested(no: number, content: readonly Buffer[]): readonly Buffer[] {
  const bytes = Buffer.concat(content);
  return [tagged(no, BYTES), encodeVarint(BigInt(bytes.length)), bytes];
}

function tagged(no: number, kind: number): Buffer {
  return encodeVarint(BigInt(no * 8 + kind));
}

function encodeVarint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest !== 0n);
  return Buffer.from(bytes);
}

function malformed(): Error {
  return badRequest("The message is malformed");
}
