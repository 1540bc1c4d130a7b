import { isUtf8 } from "node:buffer";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeSource, decodeUtf8, findMalformed } from "./utf8.ts";

const pieces = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
      fc.constantFrom("\n", "\r\n").map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 4 }),
      fc
        .constantFrom([0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82])
        .map((b) => Uint8Array.from(b)),
    ),
    { maxLength: 8 },
  )
  .map((parts) => Buffer.concat(parts));

describe("findMalformed()", () => {
  test("finds the first byte that begins no character, wherever there is one", () => {
    fc.assert(
      fc.property(pieces, (bytes) => {
        const found = findMalformed(bytes);
        expect(found === undefined).toBe(isUtf8(bytes));
        if (found === undefined) return;
        const before = bytes.subarray(0, found.byte);
        expect(isUtf8(before)).toBe(true);
        expect(found.line).toBe(before.toString("latin1").split("\n").length);
        // No longer piece from its start is a text, so it is the first.
        for (let end = found.byte + 1; end <= Math.min(bytes.length, found.byte + 4); end++)
          expect(isUtf8(bytes.subarray(0, end))).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("decodeSource()", () => {
  test("keeps the text of any bytes, and says where the first one stands that is none", () => {
    fc.assert(
      fc.property(pieces, (bytes) => {
        const { text, malformed } = decodeSource("x", bytes);
        expect(text).toBe(bytes.toString("utf8"));
        expect(malformed === undefined).toBe(isUtf8(bytes));
        if (malformed !== undefined) expect(text[malformed.offset]).toBe("\uFFFD");
      }),
    );
  });
});

describe("decodeUtf8()", () => {
  test("refuses what is no UTF-8 with its place", () => {
    expect(decodeUtf8("x", Buffer.from("\uFEFFä"))).toBe("\uFEFFä");
    expect(() => decodeUtf8("dir/x.json", Buffer.from("a\nbc\xE4", "latin1"))).toThrow(
      expect.objectContaining({
        code: "TEXT_INVALID",
        message: "dir/x.json:2: The text is not UTF-8: byte 4 begins no character",
      }),
    );
  });
});
