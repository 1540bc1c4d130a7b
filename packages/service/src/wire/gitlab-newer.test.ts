import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ERROR_FIELDS,
  ERROR_KINDS,
  GRACE_FIELD,
  isGoClient,
  readNewerRunFields,
  TIMEOUT_FIELD,
  writeStatusError,
} from "./gitlab-newer.ts";

function duration(no: number, seconds: bigint, nanos = 0) {
  const writer = new BinaryWriter();
  if (seconds !== 0n) writer.tag(1, WireType.Varint).int64(seconds);
  if (nanos !== 0) writer.tag(2, WireType.Varint).int32(nanos);
  return { no, wireType: WireType.LengthDelimited, data: new BinaryWriter().bytes(writer.finish()).finish() };
}

describe("readNewerRunFields", () => {
  test("the numbers that are taken to be right", () => {
    expect([TIMEOUT_FIELD, GRACE_FIELD]).toEqual([7, 8]);
    const fields = [duration(7, 3600n), duration(8, 30n, 500_000_000)];
    expect(readNewerRunFields(fields)).toEqual({ timeoutMs: 3_600_000, graceMs: 30_500 });
  });

  test("a single duration under any other number is the timeout", () => {
    expect(readNewerRunFields([duration(12, 60n)])).toEqual({ timeoutMs: 60_000 });
    expect(readNewerRunFields([duration(12, 60n), duration(13, 60n)])).toEqual({});
  });

  test("nothing, zero, negative and absurd durations are none", () => {
    expect(readNewerRunFields(undefined)).toEqual({});
    for (const field of [duration(7, 0n), duration(7, -1n), duration(7, 10n ** 15n), duration(7, 1n, -5)])
      expect(readNewerRunFields([field])).toEqual({});
  });

  test("whatever else the field holds does no harm", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.boolean(), (bytes, isWhole) => {
        const data = isWhole ? new BinaryWriter().bytes(bytes).finish() : bytes;
        const { timeoutMs = 1 } = readNewerRunFields([{ no: 7, wireType: WireType.LengthDelimited, data }]);
        expect(timeoutMs).toBeGreaterThan(0);
      }),
    );
    const text = new BinaryWriter().bytes(Buffer.from("a text")).finish();
    expect(readNewerRunFields([{ no: 7, wireType: WireType.LengthDelimited, data: text }])).toEqual({});
    expect(readNewerRunFields([{ no: 7, wireType: WireType.Varint, data: Uint8Array.of(5) }])).toEqual({});
  });
});

test("a StatusError can be read in either order, under either number", () => {
  const fields = writeStatusError("timeout", "it took too long");
  expect(fields.map(({ no }) => no)).toEqual(ERROR_FIELDS);
  const reader = new BinaryReader(new BinaryReader(fields[0]?.data ?? new Uint8Array()).bytes());
  const found: unknown[] = [];
  while (reader.pos < reader.len) {
    const [no, wireType] = reader.tag();
    found.push([no, wireType === WireType.Varint ? reader.int32() : reader.string()]);
  }
  expect(found).toEqual([
    [1, "it took too long"],
    [2, ERROR_KINDS.timeout],
    [1, ERROR_KINDS.timeout],
    [2, "it took too long"],
  ]);
});

test.each([
  ["grpc-go/1.83.0", true],
  ["gitlab-runner 18.0 grpc-go/1.83.0", true],
  ["not-grpc-go/1", false],
  ["connect-es/2.2.0", false],
  ["", false],
])("%s: %s", (agent, expected) => {
  expect(isGoClient(new Headers(agent === "" ? {} : { "user-agent": agent }))).toBe(expected);
});
