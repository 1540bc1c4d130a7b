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
  ])("refuses %s", (pattern, offset, length) => {
    expect(patternProblem(pattern)).toMatchObject({ offset, length });
  });

  test("refuses a long pattern, and reads a hostile one in bounded time", () => {
    expect(patternProblem("a".repeat(1001))).toBeDefined();
    expect(patternProblem(`[${"\\".repeat(998)}`)).toBeDefined();
  });
});
