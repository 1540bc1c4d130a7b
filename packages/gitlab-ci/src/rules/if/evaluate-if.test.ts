import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { evaluateIf, type IfExplanation } from "./evaluate-if.ts";
import { parseIf } from "./parse-if.ts";
import { type CompilePattern, loadPatterns, PatternError } from "./patterns.ts";

let compile: CompilePattern;
beforeAll(async () => {
  compile = await loadPatterns();
});

const VARIABLES: Readonly<Record<string, string>> = {
  A: "a",
  B: "b",
  EMPTY: "",
  BLANK: "  ",
  REF: "feature/x",
  TAG: "v1.2.3",
  TRUE: "true",
  REFERS: "$A",
  PATTERN: "/^V[0-9]/i",
  BROKEN: "/(/",
  LINES: "one\ntwo",
  SLASHES: "https://x/y",
};

function holds(text: string): boolean {
  return evaluateIf(parseIf(text), { valueOf: (name) => VARIABLES[name], compile }).holds;
}

const table: readonly (readonly [text: string, expected: boolean])[] = [
  ["$A", true],
  ["$NONE", false],
  ["$EMPTY", false],
  ["$BLANK", false],
  ['"x"', true],
  ['""', false],
  ["null", false],
  ["true", true],
  ["false", false],
  ['$A == "a"', true],
  ["$A == 'a'", true],
  ['"a" == $A', true],
  ['$A=="a"', true],
  ['  $A\n ==\t"a"  ', true],
  ["$A == $B", false],
  ["$A != $B", true],
  ["$NONE == null", true],
  ["$NONE != null", false],
  ["$EMPTY == null", false],
  ['$EMPTY == ""', true],
  ['$NONE == ""', false],
  ["$NONE == $OTHER", true],
  ["$TRUE == true", false],
  ['$TRUE == "true"', true],
  [`$A == "it's"`, false],
  // Values are compared as they stand.
  ['$REFERS == "$A"', true],
  ["$REFERS == $A", false],
  // Patterns.
  ["$TAG =~ /^v\\d+/", true],
  ["$TAG =~ /^V/", false],
  ["$TAG =~ /^V/i", true],
  ["$TAG !~ /^x/", true],
  [String.raw`$REF =~ /^feature\//`, true],
  [String.raw`$SLASHES =~ /:\/\/x/`, true],
  ["$TAG =~ $PATTERN", true],
  ["$TAG =~ $NONE", false],
  ["$TAG !~ $NONE", true],
  ["$NONE =~ /^$/", true],
  ["$EMPTY =~ /^$/", true],
  ["$NONE =~ /.+/", false],
  ["$NONE !~ /.+/", true],
  ["$LINES =~ /^two/", false],
  ["$LINES =~ /^two/m", true],
  ["$LINES =~ /one.two/", false],
  ["$LINES =~ /one.two/s", true],
  // A right side that is no pattern: the left text is looked for in it.
  ['$A =~ "cat"', true],
  ['$TAG =~ "v1"', false],
  ["$A !~ $BROKEN", true],
  // Precedence and parentheses.
  ['$A == "a" && $B == "x" || $A', true],
  ['$A || $B == "x" && $NONE', true],
  ['($A || $B == "x") && $NONE', false],
  ['($A == "a")', true],
  ["((($A)))", true],
  ['$NONE || ($A == "a" && ($B == "b"))', true],
  ['$A == "a" == "x"', false],
  // Ruby's operators: an empty string is something.
  ['$EMPTY || $A == "a"', false],
  ["$EMPTY && $A", true],
  ["$NONE || $A", true],
  ["$NONE && $A", false],
  ["$A && $EMPTY", false],
  // Not.
  ["!$NONE", true],
  ["!$EMPTY", true],
  ["!$A", false],
  ['!($A == "b") && $A', true],
  ["!!$A", true],
];

describe("evaluateIf()", () => {
  test.each(table)("evaluateIf() gives what GitLab gives: %j: %s", (text, expected) => {
    expect(holds(text)).toBe(expected);
  });

  test("evaluateIf() explains each part with the value it had", () => {
    const { explanation } = evaluateIf(parseIf('$A == "b" || $NONE'), { valueOf: (name) => VARIABLES[name] });
    expect(explanation).toEqual({
      text: '$A == "b" || $NONE',
      value: null,
      parts: [
        {
          text: '$A == "b"',
          value: false,
          parts: [
            { text: "$A", variable: "A", value: "a", parts: [] },
            { text: '"b"', value: "b", parts: [] },
          ],
        },
        { text: "$NONE", variable: "NONE", value: null, parts: [] },
      ],
    } satisfies IfExplanation);
  });

  test("evaluateIf() does not look at what no longer decides", () => {
    const seen: string[] = [];
    const condition = parseIf("$A || $B");
    const { explanation } = evaluateIf(condition, { valueOf: (name) => (seen.push(name), "x") });
    expect(seen).toEqual(["A"]);
    expect(explanation.parts[1]).toEqual({ text: "$B", value: undefined, parts: [] });
  });

  test("evaluateIf() takes time linear to the text for a pattern that others choke on", () => {
    const valueOf = (): string => "x".repeat(20_000);
    expect(evaluateIf(parseIf("$A =~ /^(x+x+)+y$/"), { valueOf, compile }).holds).toBe(false);
  });

  test("evaluateIf() refuses a pattern that would cost too much", () => {
    const valueOf = (): string => "x".repeat(100_000);
    const condition = parseIf(`$A =~ /${".*".repeat(4000)}y/`);
    expect(() => evaluateIf(condition, { valueOf, compile })).toThrow(PatternError);
  });

  test("evaluateIf() follows the laws of Ruby's operators", () => {
    const operand = fc.constantFrom("$A", "$EMPTY", "$NONE", "null", '"x"', '$A == "a"', "($A == $B)");
    const value = (text: string): unknown =>
      evaluateIf(parseIf(text), { valueOf: (name) => VARIABLES[name] }).explanation.value;
    fc.assert(
      fc.property(operand, operand, (left, right) => {
        const first = value(left);
        const isNothing = first === null || first === false;
        expect(value(`${left} || ${right}`)).toBe(isNothing ? value(right) : first);
        expect(value(`${left} && ${right}`)).toBe(isNothing ? first : value(right));
        expect(holds(`!(${left})`)).toBe(!holds(left));
      }),
    );
  });
});

describe("loadPatterns()", () => {
  const wrong = ["(", "(?!a)b", String.raw`(a)\1`, "(a{1000}){1000}", "[z-a]", "a**", "x".repeat(20_000)];
  test.each(wrong.map((body) => [body.slice(0, 20), body]))("loadPatterns() gives RE2, which refuses %s", (_, body) => {
    expect(() => compile(body, "")).toThrow(PatternError);
  });

  test("loadPatterns() gives RE2, in which U swaps greed", () => {
    expect(compile("^a+$", "U").test("aaa")).toBe(true);
    expect(compile("É", "i").test("é")).toBe(true);
  });
});
