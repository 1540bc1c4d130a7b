import { format, inspect } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyValue } from "../../test/arbitrary.ts";
import {
  createObject,
  equalValues,
  formatNumber,
  formatValue,
  isSensitive,
  mapObject,
  reveal,
  revealString,
  type RuntimeValue,
  secretTexts,
  Sensitive,
  sensitive,
  typeOf,
  type Value,
} from "./value.ts";

const protoKey = JSON.parse('{"__proto__":{"a":1}}') as { [key: string]: Value };

describe("Sensitive", () => {
  const showAll = { showHidden: true, getters: true, depth: null, customInspect: true };
  test.each<[string, (value: Sensitive) => unknown]>([
    ["String()", (value) => String(value)],
    ["a template literal", (value) => `<${value as unknown as string}>`],
    ["concatenation", (value) => "".concat(value as unknown as string)],
    ["Array.join()", (value) => [value, value].join()],
    ["JSON.stringify()", (value) => JSON.stringify({ a: [value] })],
    ["util.inspect()", (value) => inspect(value)],
    ["util.inspect() of everything", (value) => inspect({ a: [value] }, showAll)],
    [
      "util.inspect() without custom ones",
      (value) => inspect(value, { ...showAll, customInspect: false, getters: false }),
    ],
    ["util.format()", (value) => format("%s %o %O %j %d", value, value, value, value, value)],
    [
      "Object.entries()",
      (value) => JSON.stringify([Object.entries(value), Object.assign({}, value), Object.keys(value)]),
    ],
    [
      "for-in",
      (value) => {
        const seen = [];
        for (const key in value) seen.push(key);
        return seen.join();
      },
    ],
    ["structuredClone()", (value) => inspect(structuredClone(value), showAll)],
    ["an error's message", (value) => inspect(new Error(`Cannot use ${String(value)}`, { cause: value }))],
  ])("does not leak through %s", (_name, show) => {
    for (const value of [sensitive("s3cret"), sensitive({ s3cret: ["s3cret"] }), sensitive([sensitive("s3cret")])]) {
      const shown = show(value);
      expect(typeof shown).toBe("string");
      expect(shown).not.toContain("s3cret");
    }
  });

  test("shows itself as [MASKED]", () => {
    const value = sensitive("s3cret");
    expect([String(value), JSON.stringify(value), inspect(value)]).toEqual(["[MASKED]", '"[MASKED]"', "[MASKED]"]);
  });

  test("is not marked twice", () => {
    const value = sensitive("a");
    expect(sensitive(value)).toBe(value);
    expect(new Sensitive(new Sensitive("a")).value).toBe("a");
  });
});

describe("reveal()", () => {
  test("takes every mark off, at any depth", () => {
    expect(reveal(sensitive({ a: [sensitive("x"), 1], b: { c: sensitive(null) } }))).toEqual({
      a: ["x", 1],
      b: { c: null },
    });
  });

  test("is the identity of what is not marked, and is undone by nothing", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(equalValues(reveal(value), value)).toBe(true);
        expect(equalValues(reveal(sensitive(value)), value)).toBe(true);
      }),
    );
  });
});

describe("revealString()", () => {
  test("gives the text of what is marked", () => {
    expect(revealString("a")).toBe("a");
    expect(revealString(sensitive("a"))).toBe("a");
    expect(revealString(sensitive({ a: [sensitive(1)] }))).toBe('{"a":[1]}');
    expect(revealString(sensitive(-0))).toBe("0");
  });
});

describe("isSensitive()", () => {
  test("finds a mark at any depth", () => {
    expect(isSensitive({ a: [1, { b: sensitive("x") }] })).toBe(true);
    expect(isSensitive({ a: [1, { b: "x" }] })).toBe(false);
    expect(isSensitive(null)).toBe(false);
  });
});

describe("secretTexts()", () => {
  const texts = (value: RuntimeValue): string[] => [...secretTexts(value)];
  test("gives the strings and numbers of marked parts only", () => {
    expect(texts({ a: "open", b: sensitive({ c: "x", d: [1.5, true, null, sensitive("y")] }) })).toEqual([
      "x",
      "1.5",
      "y",
    ]);
    expect(texts("open")).toEqual([]);
  });
});

describe("typeOf()", () => {
  test.each<[Value, string]>([
    [null, "null"],
    [[], "array"],
    [{}, "struct"],
    ["", "string"],
    [0, "number"],
    [false, "boolean"],
  ])("of %j is %s", (value, type) => {
    expect(typeOf(value)).toBe(type);
  });
});

describe("formatValue()", () => {
  test.each<[Value, string]>([
    ["a b", "a b"],
    [-0, "0"],
    [0.1, "0.1"],
    [1e21, "1e+21"],
    [1e-7, "1e-7"],
    [123456789012345680000, "123456789012345680000"],
    [true, "true"],
    [null, "null"],
    [[1, "a", null, -0], '[1,"a",null,0]'],
    [{ b: 1, a: { c: "x" } }, '{"b":1,"a":{"c":"x"}}'],
  ])("of %j is %s", (value, text) => {
    expect(formatValue(value)).toBe(text);
  });

  test("writes numbers that are read back to the same", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(JSON.parse(formatNumber(value))).toBe(value + 0);
      }),
    );
  });
});

describe("objects without a prototype", () => {
  test("hold `__proto__` as a key like any other", () => {
    const object = createObject([
      ["__proto__", "x"],
      ["a", "y"],
    ]);
    expect(Object.getPrototypeOf(object)).toBeNull();
    expect(Object.entries(object)).toEqual([
      ["__proto__", "x"],
      ["a", "y"],
    ]);
    const mapped = mapObject(protoKey, (value, key) => [key, value]);
    expect(Object.entries(mapped)).toEqual([["__proto__", ["__proto__", { a: 1 }]]]);
    expect(Object.entries(reveal(protoKey) as object)).toEqual([["__proto__", { a: 1 }]]);
    expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
  });
});

describe("equalValues()", () => {
  test.each<[Value, Value, boolean]>([
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [[], {}, false],
    [{ 0: 1 }, [1], false],
    [{ a: 1 }, { b: 1 }, false],
    [{ a: null }, {}, false],
    [null, {}, false],
    [1, "1", false],
    [0, -0, true],
    [protoKey, {}, false],
    [{ toString: 1 }, { valueOf: 1 }, false],
  ])("of %j and %j is %j", (a, b, expected) => {
    expect(equalValues(a, b)).toBe(expected);
    expect(equalValues(b, a)).toBe(expected);
  });

  test("agrees with a copy of any value, and with no other", () => {
    fc.assert(
      fc.property(anyValue, anyValue, (a, b) => {
        expect(equalValues(a, structuredClone(a))).toBe(true);
        expect(equalValues(a, [a])).toBe(false);
        expect(equalValues(a, b)).toBe(equalValues(b, a));
      }),
    );
  });
});
