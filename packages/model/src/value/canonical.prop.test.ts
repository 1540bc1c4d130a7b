import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "./canonical.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The same value with the keys of every object in reverse order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const result = Object.create(null) as { [key: string]: Json };
  for (const [key, item] of Object.entries(value).toReversed()) result[key] = reversed(item);
  return result;
}

const anyJson = fc.jsonValue({ stringUnit: "binary" }) as fc.Arbitrary<Json>;

describe("canonicalJson()", () => {
  test("is JSON of the same value", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        // By way of JSON, which does not tell -0 from 0.
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 500 },
    );
  });

  test("does not depend on the order of keys, and is its own canonical form", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(reversed(value))).toBe(text);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  test("differs for different values", () => {
    fc.assert(
      fc.property(anyJson, anyJson, (a, b) => {
        const isSame = canonicalJson(a) === canonicalJson(b);
        expect(isSame).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
      }),
      { numRuns: 500 },
    );
  });
});

/** Pairs instead of objects, so that no engine's order of number-like keys gets in between. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return ["list", ...value.map(sorted)];
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return ["object", ...members.map(([key, item]): Json => [key, sorted(item)])];
}
