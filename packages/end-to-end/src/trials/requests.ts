import { Code } from "@connectrpc/connect";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

const MIB = 1024 * 1024;

/** Requests that a client sends at once. */
export interface Hostile {
  readonly name: string;
  readonly messages: () => readonly Buffer[];
  /** The codes that may be answered. */
  readonly codes: readonly Code[];
}

const REFUSED: readonly Code[] = [Code.InvalidArgument, Code.ResourceExhausted];
const ID = new BinaryWriter().tag(1, WireType.LengthDelimited).string("hostile").finish();

/** A field that is repeated without content until the request has so many bytes. */
function repeated(field: number, bytes: number): Buffer {
  const one = new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(new Uint8Array()).finish();
  return Buffer.concat([ID, Buffer.alloc(Math.floor(bytes / one.length) * one.length, one)]);
}

function ofOne(fill: (writer: BinaryWriter) => void): Buffer {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string("hostile");
  fill(writer);
  return Buffer.from(writer.finish());
}

/** Lists of values in lists of values, so many levels deep, as an input. */
function deepInput(levels: number): Buffer {
  // Each level is a list value (field 6) with one value (field 1); the innermost is null.
  let value: Buffer = Buffer.from([0x08, 0x00]);
  for (let level = 0; level < levels; level++) value = wrap(6, wrap(1, value));
  const entry = Buffer.concat([wrap(1, Buffer.from("a")), wrap(2, value)]);
  return Buffer.concat([ID, wrap(102, entry)]);
}

function wrap(field: number, content: Buffer): Buffer {
  return Buffer.from(new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(content).finish());
}

const FIELDS: Readonly<Record<string, number>> = {
  steps: 5,
  env: 3,
  variables: 101,
  inputs: 102,
  maskedValues: 105,
  secrets: 109,
  "unknown fields": 1999,
};

const manyOf = (mib: number): Hostile[] =>
  Object.entries(FIELDS).map(([name, field]) => ({
    name: `${mib} MiB of empty ${name}`,
    codes: REFUSED,
    messages: () => [repeated(field, mib * MIB)],
  }));

export const REQUESTS: readonly Hostile[] = [
  ...manyOf(24),
  ...manyOf(62),
  ...manyOf(10),
  {
    name: "62 MiB of unknown numbers",
    codes: REFUSED,
    messages: () => [Buffer.concat([ID, Buffer.alloc(62 * MIB - 1, Buffer.from([0x80, 0x7d, 0x01]))])],
  },
  {
    name: "16 large ones at once",
    messages: () => {
      const large = ofOne((writer) => writer.tag(100, WireType.LengthDelimited).string("x".repeat(60 * MIB)));
      return Array.from({ length: 16 }, () => large);
    },
    codes: REFUSED,
  },
  {
    name: "16 with many steps at once",
    codes: REFUSED,
    messages: () => Array.from({ length: 16 }, () => repeated(5, 24 * MIB)),
  },
  { name: "values 5,000 levels deep", codes: REFUSED, messages: () => [deepInput(5000)] },
  { name: "a length without its bytes", codes: REFUSED, messages: () => [Buffer.from("ffffffff", "hex")] },
  {
    name: "a field with the number 0",
    codes: REFUSED,
    messages: () => [Buffer.concat([ID, Buffer.from([0x02, 0x00])])],
  },
  {
    name: "text that is not UTF-8",
    codes: REFUSED,
    messages: () => [Buffer.concat([ID, wrap(6, Buffer.from([0x65, 0xff, 0xfe]))])],
  },
  { name: "a group that does not end", codes: REFUSED, messages: () => [Buffer.concat([ID, Buffer.from([0x2b])])] },
];
