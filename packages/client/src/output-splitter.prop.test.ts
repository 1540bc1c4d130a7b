import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { FollowIOResponse_StreamType, FollowIOResponseSchema } from "@steps/proto/service";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { frame } from "./message-splitter.ts";
import { OutputSplitter } from "./output-splitter.ts";

const MAX_BYTES = 1 << 20;

interface Sent {
  readonly isStderr: boolean;
  readonly bytes: Uint8Array;
  readonly offset: number;
  /** As our service sends it, with the bytes last; or as protobuf writes it. */
  readonly isLast: boolean;
}

const sent = fc.record({
  isStderr: fc.boolean(),
  bytes: fc.uint8Array({ maxLength: 300 }),
  offset: fc.nat({ max: Number.MAX_SAFE_INTEGER - 1000 }),
  isLast: fc.boolean(),
});

function encode({ isStderr, bytes, offset, isLast }: Sent): Uint8Array {
  const streamType = isStderr ? FollowIOResponse_StreamType.stderr : FollowIOResponse_StreamType.stdout;
  if (!isLast)
    return frame(toBinary(FollowIOResponseSchema, create(FollowIOResponseSchema, { stream: bytes, streamType, offset: BigInt(offset) }))); // oxfmt-ignore
  const writer = new BinaryWriter();
  if (isStderr) writer.tag(2, WireType.Varint).int32(1);
  if (offset > 0) writer.tag(3, WireType.Varint).int64(BigInt(offset));
  return frame(writer.tag(1, WireType.LengthDelimited).bytes(bytes).finish());
}

/** Returns the pieces that a splitter gives, without empty ones and with neighbours of one message joined. */
function split(body: Uint8Array, cuts: readonly number[]): unknown[] {
  const splitter = new OutputSplitter(MAX_BYTES);
  const pieces: { stream: string; offset: number; bytes: number[] }[] = [];
  let at = 0;
  for (const cut of [...cuts.map((n) => n % (body.length + 1)).toSorted((a, b) => a - b), body.length]) {
    splitter.push(body.subarray(at, cut));
    at = Math.max(at, cut);
    for (let piece = splitter.shift(); piece !== undefined; piece = splitter.shift()) {
      const last = pieces.at(-1);
      const isMore = last?.stream === piece.stream && last.offset + last.bytes.length === piece.offset;
      if (isMore) last.bytes.push(...piece.bytes);
      else if (piece.bytes.length > 0)
        pieces.push({ stream: piece.stream, offset: piece.offset, bytes: [...piece.bytes] });
    }
  }
  expect(splitter.isEmpty).toBe(true);
  return pieces;
}

test("whatever the chunks, the pieces are those that were sent", () => {
  fc.assert(
    fc.property(fc.array(sent, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 12 }), (messages, cuts) => {
      const body = Buffer.concat(messages.map(encode));
      expect(split(body, cuts)).toEqual(split(body, []));
      const bytes = messages.filter((message) => message.bytes.length > 0);
      expect(split(body, []).length).toBeLessThanOrEqual(bytes.length);
      const total = (split(body, cuts) as { bytes: number[] }[]).flatMap((piece) => piece.bytes);
      expect(total).toEqual(bytes.flatMap((message) => [...message.bytes]));
    }),
  );
});

test("bytes are given as they come", () => {
  const splitter = new OutputSplitter(MAX_BYTES);
  const body = encode({ isStderr: true, bytes: Buffer.alloc(1000, "x"), offset: 7, isLast: true });
  splitter.push(body.subarray(0, 500));
  const first = splitter.shift();
  expect(first).toMatchObject({ stream: "stderr", offset: 7 });
  expect(splitter.shift()).toBeUndefined();
  splitter.push(body.subarray(500));
  const second = splitter.shift();
  expect(second?.offset).toBe(7 + (first?.bytes.length ?? 0));
  expect((first?.bytes.length ?? 0) + (second?.bytes.length ?? 0)).toBe(1000);
  expect(splitter.isEmpty).toBe(true);
});

test("what is no message is refused", () => {
  const feed = (bytes: readonly number[]) => () => {
    const splitter = new OutputSplitter(100);
    splitter.push(Uint8Array.from(bytes));
    return splitter.shift();
  };
  expect(feed([1, 0, 0, 0, 0])).toThrow("flags 1");
  expect(feed([0, 0, 0, 0, 200])).toThrow("200 bytes");
  expect(feed([0, 0, 0, 0, 2, 0xff, 0xff])).toThrow("that is none");
});
