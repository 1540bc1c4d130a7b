import { assert, property, uint8Array } from "fast-check";
import { expect, test } from "vitest";
import {
  formatChecksum,
  formatContentRange,
  formatStoredRange,
  parseChecksum,
  parseContentRange,
  parseStoredRange,
  traceCrc,
} from "./trace.ts";

test("a Content-Range has no unit and an inclusive end", () => {
  expect(formatContentRange(0, 1)).toBe("0-0");
  expect(formatContentRange(5, 10)).toBe("5-14");
  expect(parseContentRange("5-14")).toEqual({ start: 5, end: 14 });
});

test("parseContentRange() takes nothing but two numbers", () => {
  for (const header of [undefined, "", "bytes 0-1", "0-1/2", "-1-2", "0x1-2", "1e3-2", "5", `${"9".repeat(30)}-1`]) {
    expect(parseContentRange(header), String(header)).toBeUndefined();
  }
});

test("the Range of an answer says how many bytes are stored", () => {
  expect(formatStoredRange(12)).toBe("0-12");
  expect(parseStoredRange("0-12")).toBe(12);
  for (const header of [undefined, "1-12", "0-x", "bytes=0-12"]) expect(parseStoredRange(header)).toBeUndefined();
});

test("traceCrc() of parts is that of the whole, and checksums are read back", () => {
  expect(formatChecksum(traceCrc(Buffer.from("123456789")))).toBe("crc32:cbf43926");
  expect(formatChecksum(0x1f)).toBe("crc32:0000001f");
  assert(
    property(uint8Array(), uint8Array(), (one, two) => {
      const whole = traceCrc(Buffer.concat([one, two]));
      expect(traceCrc(two, traceCrc(one))).toBe(whole);
      expect(parseChecksum(formatChecksum(whole))).toBe(whole);
    }),
  );
  expect(parseChecksum("sha256:00")).toBeUndefined();
});
