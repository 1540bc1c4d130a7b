import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ConnectError } from "@connectrpc/connect";
import { gitlab, RunRequestSchema } from "@steps/proto/service";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkMessage, MAX_DEPTH, MAX_FIELDS } from "./check-message.ts";

/** Returns the message of the check, or `undefined` if it has no objection. */
function refusal(schema: Parameters<typeof checkMessage>[0], bytes: Uint8Array): string | undefined {
  try {
    checkMessage(schema, bytes);
    return undefined;
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return error.rawMessage;
  }
}

const text = fc.string({ unit: "binary", maxLength: 20 }).map((value) => value.toWellFormed());
const value = fc.jsonValue({ maxDepth: 4 }).map((json) => fromJsonValue(json));
const request = fc
  .record({
    id: text,
    env: fc.dictionary(text, text),
    ciScript: text,
    steps: fc.array(fc.record({ name: text, env: fc.dictionary(text, text) }), { maxLength: 3 }),
    variables: fc.array(fc.record({ key: text, value: text, file: fc.boolean(), masked: fc.boolean() })),
    inputs: fc.dictionary(text, value),
    timeout: fc.option(fc.record({ seconds: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), nanos: fc.integer() }), {
      nil: undefined,
    }),
    maskedValues: fc.array(text),
  })
  .map((init) => toBinary(RunRequestSchema, create(RunRequestSchema, init as never)));

function fromJsonValue(json: fc.JsonValue): ReturnType<typeof create<typeof ValueSchema>> {
  if (Array.isArray(json))
    return create(ValueSchema, { kind: { case: "listValue", value: { values: json.map(fromJsonValue) } } });
  return create(ValueSchema, { kind: { case: "stringValue", value: JSON.stringify(json).toWellFormed() } });
}

/** Any bytes, those of the wire among them, and messages with some bytes changed. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  fc
    .array(fc.constantFrom(0, 1, 2, 8, 10, 11, 12, 0x2a, 0x7b, 0x7c, 0x80, 0xaa, 6, 0xff), { maxLength: 40 })
    .map((of) => Uint8Array.from(of)),
  fc.tuple(request, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 })).map(([message, changes]) => {
    const changed = message.slice();
    for (const [at, byte] of changes) if (changed.length > 0) changed[at % changed.length] = byte;
    return changed;
  }),
);

describe("a request", () => {
  test("that was encoded passes", () => {
    fc.assert(
      fc.property(request, (message) => {
        expect(refusal(RunRequestSchema, message)).toBeUndefined();
      }),
    );
  });

  test("that passes can be decoded", () => {
    fc.assert(
      fc.property(
        bytes,
        fc.constantFrom(RunRequestSchema, gitlab.RunRequestSchema, FileDescriptorProtoSchema),
        (message, schema) => {
          if (refusal(schema, message) === undefined) fromBinary(schema, message);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test.each([
    ["empty steps", Buffer.from("2a00", "hex")],
    ["unknown fields", Buffer.from("7800", "hex")],
    ["unknown groups", Buffer.from("7b7c", "hex")],
  ])("has a bounded number of fields: %s", (_name, field) => {
    expect(refusal(RunRequestSchema, Buffer.alloc(field.length * MAX_FIELDS, field))).toBeUndefined();
    const more = Buffer.alloc(field.length * (MAX_FIELDS + 1), field);
    expect(refusal(RunRequestSchema, more)).toContain(`${MAX_FIELDS} fields`);
  });

  test("has a bounded number of fields in its messages and in packed lists", () => {
    const inner = Buffer.alloc(2 * MAX_FIELDS, Buffer.from("0a00", "hex"));
    const variables = new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(inner).finish();
    expect(refusal(gitlab.RunRequestSchema, variables)).toContain(`${MAX_FIELDS} fields`);
    // `public_dependency`
    const packed = new BinaryWriter().tag(10, WireType.LengthDelimited).bytes(Buffer.alloc(MAX_FIELDS)).finish();
    expect(refusal(FileDescriptorProtoSchema, packed)).toContain(`${MAX_FIELDS} fields`);
  });

  test.each([
    ["groups", Buffer.alloc(200, 0x7b)],
    ["messages", nested(200)],
  ])("has a bounded depth: %s", (_name, message) => {
    expect(refusal(RunRequestSchema, message)).toContain(`deeper than ${MAX_DEPTH} levels`);
  });

  test.each([
    ["ffffffff", "a number is cut short"],
    ["0800", "field 1 has wire type 0 instead of 2"],
    ["0aff", "a number is cut short"],
    ["0a05", "field 1 is longer than what it is in"],
    ["0a01ff", "the text of field 1 is not UTF-8"],
    ["0200", "a field has the number 0"],
    ["7c", "group 15 ends and did not begin"],
    ["7b", "group 15 has no end"],
    ["7e", "there is no wire type 6"],
    ["78ffffffffffffffffffff01", "a number has no end"],
    ["0affffffff7f", "a tag or a length has more than 32 bits"],
  ])("that is malformed is refused with its place: %s", (hex, what) => {
    expect(refusal(RunRequestSchema, Buffer.from(hex, "hex"))).toContain(what);
  });
});

/** An input that is a list in a list in a list. */
function nested(depth: number): Uint8Array {
  let list = new Uint8Array();
  for (let level = 0; level < depth; level++) {
    const inner = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(list).finish();
    list = new BinaryWriter().tag(6, WireType.LengthDelimited).bytes(inner).finish();
  }
  const entry = new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(list).finish();
  return new BinaryWriter().tag(102, WireType.LengthDelimited).bytes(entry).finish();
}
