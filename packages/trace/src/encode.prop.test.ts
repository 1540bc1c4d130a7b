import type { RuntimeValue } from "@steps/model";
import { sensitive } from "@steps/model";
import { TraceSchema } from "@steps/proto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exampleRun, fold } from "../test/events.ts";
import { fromJson, toJson } from "../test/protobuf.ts";
import { decodeTrace, encodeTrace, verifyTrace } from "./index.ts";

const value: fc.Arbitrary<RuntimeValue> = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<RuntimeValue>,
  fc.string().map(sensitive),
  fc.string().map((text) => ({ list: [1, sensitive(text)] })),
);

describe("a trace", () => {
  test("of any values has one text, which protobuf reads as we do, and fingerprints that hold", async () => {
    const outputs = fc.dictionary(fc.string(), value, { maxKeys: 5 });
    const env = fc.dictionary(fc.string(), fc.string(), { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(outputs, env, fc.array(fc.string(), { maxLength: 4 }), async (outputs, env, command) => {
        const { trace } = fold(exampleRun({ outputs, env, command }));
        const text = encodeTrace(trace);
        const decoded = await decodeTrace(text);
        expect(encodeTrace(decoded)).toBe(text);
        expect(verifyTrace(decoded)).toEqual([]);
        expect(verifyTrace(trace)).toEqual([]);
        const json = JSON.parse(text) as { root: object };
        expect(encodeTrace(toJson(TraceSchema, fromJson(TraceSchema, json)) as typeof trace)).toBe(text);
      }),
      { numRuns: 150 },
    );
  });
});
