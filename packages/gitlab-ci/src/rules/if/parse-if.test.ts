import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IfError } from "./if-error.ts";
import { parseIf } from "./parse-if.ts";

function problem(text: string): string {
  try {
    parseIf(text);
  } catch (error) {
    if (error instanceof IfError) return `${error.offset}+${error.length}: ${error.message}`;
    throw error;
  }
  return "none";
}

// Everything else than these is refused, and a condition is never a program.
const wrong: readonly (readonly [text: string, problem: string])[] = [
  ["", "0+0: The condition is empty"],
  ["  \n", "0+3: The condition is empty"],
  ["$", "0+1: There is no name after $"],
  ["${A}", "0+4: A variable is written with braces"],
  ['$A = "x"', '3+1: "=" is no part of a condition'],
  ['$A == "x', "6+1: A string is not closed"],
  ['$A == "x\ny"', "6+1: A string is not closed"],
  ["$A =~ /x", "6+1: A pattern is not closed"],
  ["$A =~ /x/", "6+3: A pattern has fewer than two characters"],
  ["$A =~ //", "6+2: A pattern has fewer than two characters"],
  ["$A =~ /xy/g", '10+1: "g" is no part of a condition'],
  ["$A ==", "5+0: The condition ends where a value is expected"],
  ["== $A", "0+2: Nothing stands before =="],
  ["$A $B", "3+2: An operator is missing here"],
  ["$A $B ==", "3+2: An operator is missing here"],
  ["($A", "0+1: A parenthesis is not closed"],
  ["($A $B)", "4+2: An operator is missing here"],
  ["$A)", "2+1: A parenthesis is closed that was not opened"],
  ["()", "1+1: Nothing stands before the closing parenthesis"],
  ["$A & $B", '3+1: "&" is no part of a condition'],
  ["main", '0+4: "main" is no part of a condition'],
  ["$A == nullable", '10+4: "able" is no part of a condition'],
  ["$A == truest", '6+6: "truest" is no part of a condition'],
  ["/ab/ =~ $A", "0+4: A pattern stands on the left of =~"],
  ["$A =~ true", "6+4: true is no pattern"],
  ["process.exit(1)", '0+12: "process.exit" is no part of a condition'],
  ['require("fs").writeFileSync("x", "")', '0+7: "require" is no part of a condition'],
];

describe("parseIf()", () => {
  test.each(wrong)("parseIf() refuses %j with its place", (text, expected) => {
    expect(problem(text)).toBe(expected);
  });

  test("parseIf() takes less than 100 parts and reads no further", () => {
    expect(problem(Array.from({ length: 50 }, () => "$A").join("&&"))).toBe("none");
    expect(problem(`(${Array.from({ length: 50 }, () => "$A").join("&&")}`)).toContain("100 parts or more");
    expect(problem("(".repeat(1_000_000))).toBe("99+1: The condition has 100 parts or more");
    expect(problem(`${"(".repeat(500_000)}$A${")".repeat(500_000)}`)).toContain("100 parts or more");
  });

  test("parseIf() takes a string of any length", () => {
    expect(problem(`$A == "${"x".repeat(1_000_000)}"`)).toBe("none");
  });

  test("parseIf() knows whether a pattern may have to be compiled", () => {
    expect(parseIf('$A == "x" || $B').needsPatterns).toBe(false);
    expect(parseIf("$A =~ $B").needsPatterns).toBe(true);
    expect(parseIf("$A =~ /^v/").patterns.map(({ text }) => text)).toEqual(["/^v/"]);
  });

  test("parseIf() ends a pattern at the first slash that has no backslash", () => {
    expect(parseIf(String.raw`$A =~ /a\/b/i && $B =~ /cd/`).patterns.map(({ text }) => text)).toEqual([
      String.raw`/a\/b/i`,
      "/cd/",
    ]);
    expect(parseIf("$A =~ /ab//").patterns.map(({ text }) => text)).toEqual(["/ab//"]);
  });

  test("parseIf() doubts what GitLab accepts and nobody means", () => {
    const doubts = (text: string): readonly string[] => parseIf(text).doubts.map(({ message }) => message);
    expect(doubts('$A == "true" && $B =~ /^v/ || $C != null')).toEqual([]);
    expect(doubts("$A == true")).toEqual(["A text is never equal to true"]);
    expect(doubts('$A =~ "x"')).toEqual(["A string on the right of =~ is no pattern"]);
    expect(doubts("$A == /ab/")).toEqual(["A pattern is never equal to a text"]);
    expect(doubts("!$A")).toEqual([`"!" is understood only by recent versions of GitLab`]);
  });

  test("parseIf() throws nothing but an IfError within the text", () => {
    const piece = fc.constantFrom(
      ..."$A $B_1 'x' \"y\" /ab/i null true ( ) == != =~ !~ && || ! $ { / ' \" \n x".split(" "),
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(" ")),
    );
    fc.assert(
      fc.property(text, (condition) => {
        try {
          const { root } = parseIf(condition);
          expect(root.offset + root.length).toBeLessThanOrEqual(condition.length);
        } catch (error) {
          expect(error).toBeInstanceOf(IfError);
          const { offset, length } = error as IfError;
          expect(offset + length).toBeLessThanOrEqual(condition.length);
        }
      }),
    );
  });
});
