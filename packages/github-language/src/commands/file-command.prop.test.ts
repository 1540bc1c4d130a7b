import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FileCommandError } from "./command-error.ts";
import { encodeKeyValue, parseKeyValues } from "./file-command.ts";

describe("parseKeyValues()", () => {
  const words = fc.array(fc.constantFrom("A", "E", "=", "<<", "<", "\n", "\n", "\r", " ", "\uFEFF"), { maxLength: 30 });

  test("reads back what encodeKeyValue() writes", () => {
    const name = fc.string({ minLength: 1 }).filter((text) => !/[=\r\n]|<<|<$|^\uFEFF/.test(text));
    const pairs = fc.array(
      fc.tuple(
        name,
        words.map((parts) => parts.join("")),
      ),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(pairs, (pairs) => {
        expect(parseKeyValues(pairs.map(([name, value]) => encodeKeyValue(name, value)).join(""))).toEqual(pairs);
      }),
    );
  });

  test("throws nothing but its error, with a line of the text", () => {
    fc.assert(
      fc.property(words, fc.boolean(), (parts, isWindows) => {
        const text = parts.join("");
        try {
          for (const [name] of parseKeyValues(text, { isWindows })) expect(name).not.toBe("");
        } catch (error) {
          expect(error).toBeInstanceOf(FileCommandError);
          const { line } = error as FileCommandError;
          expect(line).toBeGreaterThan(0);
          expect(line).toBeLessThanOrEqual(text.split("\n").length);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["pairs", "A=1\n", 1 << 18],
    ["empty lines", "\n", 1 << 20],
    ["heredocs", "A<<E\nE\n", 1 << 17],
    ["one value", `A<<E\n${"x=\n".repeat(1 << 18)}E`, 1],
  ])("reads a mebibyte of %s", (_, text, count) => {
    expect(parseKeyValues(text.repeat(count)).length).toBe(text === "\n" ? 0 : count);
  });
});
