import { isStepsError } from "@steps/model";
import type { Spec } from "@steps/model/definition";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainDecimal, readExports } from "./exports.ts";
import { parseOutputFile } from "./output-file.ts";
import { readDelegatedOutputs, readOutputs } from "./outputs.ts";

const spec: Spec = { inputs: {}, outputs: { a: { type: "number", isSensitive: false } }, hasOpenOutputs: true };

const lines = fc
  .array(
    fc.oneof(fc.string(), fc.json(), fc.constantFrom('{"name":"a","value":', "a=", "{", "}", "\r", "\0", "\uFEFF")),
  )
  .map((parts) => Buffer.from(parts.join("\n")));
const anyBytes = fc.oneof(lines, fc.uint8Array({ maxLength: 300 }));

describe("files that steps write", () => {
  test("are read, or refused with an error of ours, whatever is in them", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        for (const read of [(b: Uint8Array) => readOutputs(b, spec), readExports, readDelegatedOutputs]) {
          try {
            read(bytes);
          } catch (error) {
            expect(isStepsError(error)).toBe(true);
          }
        }
      }),
    );
  });

  test("give back every JSON value that was written", () => {
    const value = fc.jsonValue({ maxDepth: 5 }).filter((json) => json !== null);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ minLength: 1 }), value)), (pairs) => {
        const text = pairs.map(([name, value]) => JSON.stringify({ name, value })).join("\n");
        const { entries, problem } = parseOutputFile(Buffer.from(text));
        expect(problem).toBeUndefined();
        // Both sides through JSON: prototypes and -0 do not count.
        const got = entries.map((entry) => [entry.name, entry.kind === "json" ? entry.value : entry.text]);
        expect(JSON.stringify(got)).toBe(JSON.stringify(pairs));
      }),
    );
  });

  test("have numbers that read back from plain decimals", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = plainDecimal(value);
        expect(text).toMatch(/^-?\d+(\.\d+)?$/);
        expect(Number(text)).toBe(Object.is(value, -0) ? 0 : value);
      }),
    );
  });
});
