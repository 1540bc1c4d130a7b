import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadPatterns, PatternError } from "./pattern.ts";

const compile = await loadPatterns();

const matches = (pattern: string, text: string): boolean => compile(pattern, "").test(text);

describe("loadPatterns()", () => {
  test.each([
    ["", "", true],
    ["^$", "", true],
    ["^$", "a", false],
    ["b", "abc", true],
    ["^b", "abc", false],
    ["^(dev|prod)(,(dev|prod))*$", "dev,prod,dev", true],
    ["^(dev|prod)(,(dev|prod))*$", "dev,", false],
    ["^a{2,3}$", "aaaa", false],
    ["^a{2,}$", "aaaa", true],
    ["^a{,2}$", "a{,2}", true],
    ["(?i)^HeLLo$", "hEllO", true],
    ["(?P<name>x)y", "xy", true],
    ["^.$", "\n", false],
    ["(?s)^.$", "\n", true],
    ["(?m)^b$", "a\nb\nc", true],
    ["\\bfoo\\b", "a foo b", true],
    ["\\bfoo\\b", "afoob", false],
    ["^[[:alpha:]_-]+$", "ab_-", true],
    ["^[^]a]$", "]", false],
    ["^[]a]$", "]", true],
    ["^[\\w.-]+$", "a-b.c", true],
    ["^\\p{Greek}+$", "a", false],
    ["^\\p{Greek}+$", "αβ", true],
    ["^\\pL+$", "äß", true],
    ["^.$", "😀", true],
    ["^\\x41\\x{1F600}$", "A😀", true],
    ["^(?:a|)b$", "b", true],
    ["^(a*)*$", "aaa", true],
    ["^\\.\\-\\/$", ".-/", true],
  ])("%s on %j: %j", (pattern, text, wanted) => {
    expect(matches(pattern, text)).toBe(wanted);
  });

  test.each([
    "(",
    ")",
    "[",
    "a**",
    "*",
    "a{2}{3}",
    "a{3,2}",
    "a{2000}",
    "(?=a)",
    "(?<!a)",
    "\\1",
    "\\",
    "\\y",
    "(?x)a",
    "[z-a]",
  ])("refuses %s", (pattern) => {
    expect(() => compile(pattern, "")).toThrow(PatternError);
  });

  test("refuses what would be too large", () => {
    for (const pattern of ["((a{100}){100}){100}", "(".repeat(2000) + ")".repeat(2000), "a".repeat(10_001)])
      expect(() => compile(pattern, "")).toThrow(PatternError);
    const long = compile("a".repeat(10_000), "");
    expect(() => long.test("b".repeat(20_001))).toThrow(expect.objectContaining({ isTooMuch: true }));
  });

  test("answers at once where a backtracking engine would not within a lifetime", () => {
    const text = `${"a".repeat(5000)}!`;
    expect(matches("^(a|a)*$", text)).toBe(false);
    expect(matches("^(a+)+$", text)).toBe(false);
    expect(matches("a*a*a*a*a*b", text)).toBe(false);
  });

  test.each([
    ["a.", "ab ac", "ac"],
    ["(a)|b", "a b", undefined],
    ["a(.)(.)", "axy a12", "2"],
    ["z", "abc", undefined],
    ["\\d*", "1 2", ""],
  ])("lastMatch() of %s in %j is %j", (pattern, text, wanted) => {
    expect(compile(pattern, "").lastMatch(text)).toBe(wanted);
  });

  test("lastMatch() ends with the hundredth match", () => {
    const text = Array.from({ length: 200 }, (_, index) => ` ${index + 1}`).join("");
    expect(compile("\\d+", "").lastMatch(text)).toBe("100");
  });

  test("agrees with the engine's own expressions", () => {
    const atom = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\w", "(a|b)", "(ab)", "(?:a|)", "^", "$", "\\b", "x");
    const piece = fc.tuple(atom, fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,2}", "*?"));
    const pattern = fc
      .array(piece, { maxLength: 6 })
      .map((pieces) => pieces.map(([text, repeat]) => (/^(\^|\$|\\b)$/.test(text) ? text : text + repeat)).join(""));
    const text = fc.string({ unit: fc.constantFrom("a", "b", "x", " ", "\n"), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (source, value) => {
        expect(matches(source, value)).toBe(new RegExp(source, "u").test(value));
      }),
      { numRuns: 500 },
    );
  });
});
