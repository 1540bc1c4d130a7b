import { expect, test } from "vitest";
import { matchesVariable, VARIABLE_PATTERN } from "./variable-pattern.ts";

test.each([
  ["AWS_REGION", "AWS_REGION", true],
  ["AWS_REGION", "AWS_*", true],
  ["AWS_REGION", "*REGION", true],
  ["AWS_REGION", "*_*_*", false],
  ["AWS_REGION", "*", true],
  ["AWS", "AWS?", false],
  ["AWS1", "AWS?", true],
  ["aAbAb", "*Ab", true],
  ["AWS_REGION", "AWS", false],
])("%s and %s: %s", (name, pattern, expected) => {
  expect(matchesVariable(name, [pattern])).toBe(expected);
});

test("a pattern of many stars is fast", () => {
  expect(matchesVariable("a".repeat(1000), [`${"*a".repeat(99)}b`])).toBe(false);
});

test("none of several", () => {
  expect(matchesVariable("X", ["Y", "Z*"])).toBe(false);
  expect(matchesVariable("X", [])).toBe(false);
});

test("what is no pattern", () => {
  expect(["A*", "*", "a?b"].every((text) => VARIABLE_PATTERN.test(text))).toBe(true);
  expect(["", "1A", "A B", "A=B", "[A]"].some((text) => VARIABLE_PATTERN.test(text))).toBe(false);
});
