import { loadPatterns } from "@steps/model/pattern";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { patternProblem } from "../index.ts";

describe("patternProblem", () => {
  test.each([
    "^v\\d+\\.\\d+$",
    "(?i)abc",
    "(?P<name>a+)b*?",
    "(?i:a)|[[:alpha:]_]+",
    "\\Q(?=\\E",
    "[(?=\\]]",
    "\\p{Greek}+\\pL\\-x",
    "\\(\\?=",
    "a{2,5}",
    "\\A[a-z]+\\z",
    "(?:x)+",
    "(?-i)x",
    "^[\\w.\\-]+\\x{41}*$",
    "[]a][^]a]",
    "\\[[:nope:]]",
    "[[:^digit:]\\pL]",
  ])("accepts %s", (pattern) => {
    expect(patternProblem(pattern)).toBeUndefined();
  });

  test.each([
    ["(?=a)", 0, 3],
    ["x(?!a)", 1, 3],
    ["(?<=a)b", 0, 4],
    ["(?<!a)b", 0, 4],
    ["(a)\\1", 3, 2],
    ["(?<n>a)\\k<n>", 7, 2],
    ["(?>a)", 0, 3],
    ["a++", 1, 2],
    ["a{1001}", 1, 6],
    ["(", 0, 1],
    ["a)", 0, 2],
    ["[z-a]", 0, 5],
    ["*a", 0, 2],
    ["a\\h", 1, 2],
    ["\\x4", 0, 2],
    ["\\p{Nope}", 0, 8],
    ["a[]", 1, 1],
    ["[^]", 0, 1],
    ["[a-\\d]", 0, 6],
    ["[[:nope:]]", 0, 10],
    ["(?i)+", 0, 5],
  ])("refuses %s", (pattern, offset, length) => {
    expect(patternProblem(pattern)).toMatchObject({ offset, length });
  });

  test("refuses a long pattern, and reads a hostile one in bounded time", () => {
    expect(patternProblem("a".repeat(1001))).toBeDefined();
    expect(patternProblem(`[${"\\".repeat(998)}`)).toBeDefined();
  });

  test("lets nothing pass that the engine refuses", async () => {
    const compile = await loadPatterns();
    const part = fc.constantFrom(
      ..."a é 😀 . * + ? | ^ $ ( ) ] [ [^ } { - \\ {2} {2,1} {,2} {1001} (?: (?i) (?U) (?x) (?-i) (?i: (?P<n> (?<n> (?=".split(
        " ",
      ),
      ..."\\y \\d \\b \\B \\A \\z \\Z \\Q \\E \\x41 \\x{41} \\x{110000} \\x4 \\u0041 \\1 \\k \\C \\a \\_ \\- \\/ \\é \\n \\0 \\07 \\cA \\h".split(
        " ",
      ),
      ..."\\pL \\pQ \\p{Greek} \\p{^Lu} \\p{Nope} [a-z] [z-a] [[:alpha:]] [[:nope:]] [\\d-z] [a-\\d] [a\\-\\d] [\\b] []a] [^]a]".split(
        " ",
      ),
    );
    const pattern = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(pattern, (text) => {
        if (patternProblem(text) === undefined) expect(() => compile(text, "")).not.toThrow();
      }),
      { numRuns: 3000 },
    );
  });
});
