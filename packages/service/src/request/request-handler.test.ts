import * as fc from "fast-check";
import { expect, test } from "vitest";
import { percentEncode } from "./request-handler.ts";

test.each([
  ['plain: text, [with] {all} "of" it\'s ASCII~', 'plain: text, [with] {all} "of" it\'s ASCII~'],
  ["100 %", "100 %25"],
  ["a\nb\tc", "a%0Ab%09c"],
  ["käse 🧀", "k%C3%A4se %F0%9F%A7%80"],
])("%j is %j", (text, encoded) => {
  expect(percentEncode(text)).toBe(encoded);
});

test("what is encoded fits into a header and is decoded again", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const encoded = percentEncode(text);
      expect(encoded).toMatch(/^[ -~]*$/);
      expect(decodeURIComponent(encoded)).toBe(text);
    }),
  );
});
