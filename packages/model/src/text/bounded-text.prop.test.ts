import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedText, printable } from "./bounded-text.ts";

test("BoundedText keeps everything that is short, whatever pieces it comes in", () => {
  const pieces = fc.array(fc.stringMatching(/^[a-z\n]{0,9}$/), { maxLength: 12 });
  fc.assert(
    fc.property(pieces, (words) => {
      const text = new BoundedText(8192);
      for (const word of words) text.append(Buffer.from(word));
      expect(text.toString()).toBe(words.join("").trim());
    }),
  );
});

test("BoundedText keeps the beginning and the end of what is long, and says how much is missing", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 20 }), (lengths) => {
      const text = new BoundedText(16);
      let all = "";
      for (const length of lengths) {
        const piece = Array.from({ length }, (_, at) => String.fromCodePoint(97 + ((all.length + at) % 26))).join("");
        all += piece;
        text.append(Buffer.from(piece));
      }
      const omitted = all.length - 16;
      const expected = omitted <= 0 ? all : `${all.slice(0, 8)}\n… ${omitted} bytes left out …\n${all.slice(-8)}`;
      expect(text.toString()).toBe(expected);
    }),
  );
});

test("printable() lets nothing through that steers a terminal", () => {
  expect(printable("\u001B[31mred\u001B[0m\r\n\ttab\u0007\u001B]0;title\u009B2J \n")).toBe("red\n\ttab]0;title2J");
});
