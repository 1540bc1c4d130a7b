import { describe, expect, test } from "vitest";
import { canonicalJson } from "./canonical.ts";
import { createObject, sensitive } from "./value.ts";

describe("canonicalJson()", () => {
  test("gives the result of RFC 8785, section 3.2.2", () => {
    const value: unknown = JSON.parse(
      String.raw`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`,
    );
    expect(canonicalJson(value)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test("sorts keys by UTF-16 units as RFC 8785, section 3.2.3 does", () => {
    const value = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\u{1f600}": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    };
    expect(Object.values(JSON.parse(canonicalJson(value)) as object)).toEqual([
      "One",
      "Carriage Return",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ]);
    expect(canonicalJson({ 10: 1, 9: 2, a: 3 })).toBe('{"10":1,"9":2,"a":3}');
  });

  // RFC 8785, appendix B.
  test.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("writes the number %s as %s", (hex, text) => {
    expect(canonicalJson(Buffer.from(hex, "hex").readDoubleBE())).toBe(text);
  });

  test("leaves undefined members out and takes undefined and missing items for null", () => {
    expect(canonicalJson({ a: undefined, b: [undefined, 1] })).toBe('{"b":[null,1]}');
    // oxlint-disable-next-line no-sparse-arrays -- the hole is what is tested
    expect(canonicalJson([1, , 2])).toBe("[1,null,2]");
  });

  test("takes objects for what their toJSON() gives, so that a sensitive value stays one", () => {
    expect(canonicalJson({ a: sensitive("secret"), b: new Date(0) })).toBe(
      '{"a":"[MASKED]","b":"1970-01-01T00:00:00.000Z"}',
    );
  });

  test("writes `__proto__` like any other key", () => {
    expect(canonicalJson(createObject([["__proto__", 1]]))).toBe('{"__proto__":1}');
    expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, undefined, 1n, Symbol("x"), () => 1])("refuses %s", (value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
    expect(() => canonicalJson([{ a: value ?? Number.NaN }])).toThrow(TypeError);
  });
});
