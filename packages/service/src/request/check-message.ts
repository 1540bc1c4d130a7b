import { isUtf8 } from "node:buffer";
import type { DescMessage } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";
import { type FieldShape, type WireShape, wireShapeOf } from "./wire-shape.ts";

/**
 * The greatest number of fields of a request, including those of messages in it, groups and unknown ones: a job of 5000
 * steps has half of them.
 */
export const MAX_FIELDS = 100_000;
/** Deepest nesting of messages and groups, as protobuf's own readers have it. */
export const MAX_DEPTH = 100;

/**
 * Holds the bytes of a message to the wire format, to its schema and to what may be in a request at all, without making
 * anything of them. What passes can be decoded, at a cost that its length and {@link MAX_FIELDS} bound.
 *
 * @throws {ConnectError} INVALID_ARGUMENT
 */
export function checkMessage(schema: DescMessage, bytes: Uint8Array): void {
  new MessageCheck(schema, bytes).run();
}

/** A message or group that is being read. */
interface Level {
  end: number;
  /** `undefined` in what the schema does not know. */
  shape: WireShape | undefined;
  /** The number of a group, which its end has to repeat; 0 for a message. */
  group: number;
}

class MessageCheck {
  readonly #bytes: Uint8Array;
  readonly #name: string;
  readonly #levels: Level[];
  #at = 0;
  #fields = 0;
  #level: Level;

  constructor(schema: DescMessage, bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#name = schema.typeName;
    this.#level = { end: bytes.length, shape: wireShapeOf(schema), group: 0 };
    this.#levels = [this.#level];
  }

  run(): void {
    for (;;) {
      if (this.#at < this.#level.end) this.#field();
      else if (this.#level.group !== 0) throw this.#malformed(`group ${this.#level.group} has no end`);
      else if (this.#levels.length === 1) return;
      else this.#leave();
    }
  }

  #field(): void {
    const tag = this.#uint32();
    const no = tag >>> 3;
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- numbers that are none are refused below
    const wireType = (tag & 7) as WireType;
    if (no === 0) throw this.#malformed("a field has the number 0");
    if (wireType === WireType.EndGroup) {
      if (this.#level.group !== no) throw this.#malformed(`group ${no} ends and did not begin`);
      this.#leave();
      return;
    }
    this.#count(1);
    const field = this.#level.shape?.fields.get(no);
    const isPacked = field !== undefined && field.packedBytes > 0 && wireType === WireType.LengthDelimited;
    if (field !== undefined && field.wireType !== wireType && !isPacked)
      throw this.#malformed(`field ${no} has wire type ${wireType} instead of ${field.wireType}`);
    this.#value(no, wireType, field);
  }

  #value(no: number, wireType: WireType, field: FieldShape | undefined): void {
    switch (wireType) {
      case WireType.Varint:
        return this.#skipVarint();
      case WireType.Bit64:
        return this.#skip(8);
      case WireType.Bit32:
        return this.#skip(4);
      case WireType.LengthDelimited:
        return this.#delimited(no, field);
      case WireType.StartGroup:
        return this.#enter({ end: this.#level.end, shape: field?.message?.(), group: no });
      default:
        throw this.#malformed(`there is no wire type ${wireType as number}`);
    }
  }

  #delimited(no: number, field: FieldShape | undefined): void {
    const length = this.#uint32();
    const begin = this.#at;
    if (length > this.#level.end - begin) throw this.#malformed(`field ${no} is longer than what it is in`);
    if (field?.message !== undefined) {
      this.#enter({ end: begin + length, shape: field.message(), group: 0 });
      return;
    }
    this.#at = begin + length;
    if (field?.isText === true && !isUtf8(this.#bytes.subarray(begin, this.#at)))
      throw this.#malformed(`the text of field ${no} is not UTF-8`);
    if (field !== undefined && field.packedBytes > 0) this.#packed(no, field, begin);
  }

  // Each of the values has to end where the field does.
  #packed(no: number, field: FieldShape, begin: number): void {
    const end = this.#at;
    if (field.wireType !== WireType.Varint) {
      this.#count(Math.ceil((end - begin) / field.packedBytes));
      if ((end - begin) % field.packedBytes !== 0) throw this.#malformed(`the last value of field ${no} is cut short`);
      return;
    }
    for (this.#at = begin; this.#at < end; this.#count(1)) this.#skipVarint();
    if (this.#at !== end) throw this.#malformed(`the last value of field ${no} is cut short`);
  }

  #enter(level: Level): void {
    if (this.#levels.length >= MAX_DEPTH)
      throw new ConnectError(
        `${this.#name}: messages are nested deeper than ${MAX_DEPTH} levels`,
        Code.InvalidArgument,
      );
    this.#levels.push(level);
    this.#level = level;
  }

  #leave(): void {
    this.#levels.pop();
    this.#level = this.#levels.at(-1) as Level;
  }

  #count(fields: number): void {
    this.#fields += fields;
    if (this.#fields > MAX_FIELDS)
      throw new ConnectError(
        `${this.#name}: a request may have ${MAX_FIELDS} fields, those of all messages in it counted`,
        Code.InvalidArgument,
      );
  }

  #skip(length: number): void {
    if (length > this.#level.end - this.#at) throw this.#malformed("a value is cut short");
    this.#at += length;
  }

  #skipVarint(): void {
    const last = Math.min(this.#level.end, this.#at + 10);
    while (this.#at < last) if ((this.#bytes[this.#at++] as number) < 0x80) return;
    throw this.#malformed("a number has no end");
  }

  #uint32(): number {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 28; factor *= 128) {
      if (this.#at >= this.#level.end) throw this.#malformed("a number is cut short");
      const byte = this.#bytes[this.#at++] as number;
      value += (byte & 0x7f) * factor;
      if (byte >= 0x80) continue;
      if (value < 2 ** 32) return value;
      break;
    }
    throw this.#malformed("a tag or a length has more than 32 bits");
  }

  #malformed(what: string): ConnectError {
    const name = this.#level.shape?.name ?? "an unknown group";
    return new ConnectError(
      `The request is no ${this.#name}: in ${name}, at byte ${this.#at}, ${what}`,
      Code.InvalidArgument,
    );
  }
}
