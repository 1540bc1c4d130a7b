import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeOutput } from "./encode-output.ts";
import { readExports } from "./exports.ts";
import { readOutputs } from "./outputs.ts";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom('"a"', " x ", "a\nb", "1", "{}", "\r", "a\r\n", "﻿"),
);

describe("encodeOutput", () => {
  test("any text comes back as it was, whatever else is in the file", () => {
    const spec = { inputs: {}, outputs: { a: { type: "string", isSensitive: false } } } as const;
    const open = { inputs: {}, outputs: {}, hasOpenOutputs: true } as const;
    fc.assert(
      fc.property(text, (value) => {
        const file = Buffer.from(`a=before\n${encodeOutput("a", value)}`);
        expect(readOutputs(file, spec)).toEqual({ a: value.toWellFormed() });
        expect(readOutputs(file, open)).toEqual({ a: value.toWellFormed() });
      }),
    );
  });

  test("and as a variable, if there is no NUL in it", () => {
    fc.assert(
      fc.property(text, (value) => {
        fc.pre(!value.includes("\0"));
        expect(readExports(Buffer.from(encodeOutput("a", value)))).toEqual({ a: value.toWellFormed() });
      }),
    );
  });

  test("the declared type decides what a plain text means", () => {
    const outputs = { n: { type: "number", isSensitive: false }, l: { type: "array", isSensitive: false } } as const;
    const file = Buffer.from(encodeOutput("n", "5") + encodeOutput("l", "[1]"));
    expect(readOutputs(file, { inputs: {}, outputs })).toEqual({ n: 5, l: [1] });
  });

  test("any JSON value but null is written", () => {
    expect(encodeOutput("a", ' {"b": [1, "x"]} ', { isJson: true })).toBe('{"name":"a","value":{"b":[1,"x"]}}\n');
    expect(() => encodeOutput("a", "null", { isJson: true })).toThrow("null");
    expect(() => encodeOutput("a", "{", { isJson: true })).toThrow("not valid JSON");
  });

  test.each(["", "1a", "a-b", "a b", "__proto__\n", "x".repeat(200) + "-"])("%j is no name", (name) => {
    expect(() => encodeOutput(name, "x")).toThrow("Not a name");
  });
});
