import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { harmless } from "./terminal-text.ts";

describe("harmless()", () => {
  test.each([
    ["a\u001B[31mred\u001B[0m", "a\u001B[31mred\u001B[0m\u001B[0m", "ared"],
    ["\u001B]0;title\u0007text", "text", "text"],
    ["\u001B]52;c;aGk=\u001B\\text", "text", "text"],
    ["\u001B[2J\u001B[1;1Hhome", "home", "home"],
    ["10%\r50%\r100%", "100%", "100%"],
    ["a\r\nb", "a\nb", "a\nb"],
    ["bell\u0007 back\b", "bell\uFFFD back\uFFFD", "bell\uFFFD back\uFFFD"],
    ["cut \u001B", "cut \uFFFD", "cut \uFFFD"],
  ])("harmless(%j) leaves colours at most", (text, colored, plain) => {
    expect(harmless(text, { hasColor: true })).toBe(colored);
    expect(harmless(text, { hasColor: false })).toBe(plain);
  });

  test("harmless() lets nothing through that drives a terminal, whatever the text", () => {
    const unit = fc.constantFrom(...Array.from("\u001B[]0;1mJ?\u0007\u009B\\\r\nPax\u202E\u0000"));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
        const plain = harmless(text, { hasColor: false });
        expect(plain).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/);
        const left = harmless(text, { hasColor: true }).replaceAll(/\u001B\[[0-9;:]*m/g, "");
        expect(left).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/);
      }),
    );
  });
});
