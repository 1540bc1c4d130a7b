import { isDeepStrictEqual } from "node:util";
import { isRecord } from "./read-cases.ts";

/**
 * Returns one line for each place at which a value is not what a case expects. Members that the expectation does not
 * name are free; lists have the same length. `$absent`, `$number`, `$string`, `{$contains: X}`, `{$excludes: X}`,
 * `{$length: N}` and `{$any: [X, …]}` stand for expectations that cannot be written as a value.
 */
export function findMismatches(expected: unknown, actual: unknown, place = ""): string[] {
  if (expected === "$absent") return actual === undefined ? [] : [mismatch(place, "nothing", actual)];
  if (expected === "$number" || expected === "$string") {
    return typeof actual === expected.slice(1) ? [] : [mismatch(place, expected, actual)];
  }
  if (Array.isArray(expected)) return inList(expected, actual, place);
  if (!isRecord(expected)) return isDeepStrictEqual(expected, actual) ? [] : [mismatch(place, expected, actual)];
  const [operator] = Object.keys(expected).filter((key) => key.startsWith("$"));
  if (operator !== undefined) return withOperator(operator, { operand: expected[operator], actual, place });
  if (!isRecord(actual)) return [mismatch(place, expected, actual)];
  return Object.entries(expected).flatMap(([key, value]) => findMismatches(value, actual[key], `${place}/${key}`));
}

function inList(expected: readonly unknown[], actual: unknown, place: string): string[] {
  if (!Array.isArray(actual) || actual.length !== expected.length) return [mismatch(place, expected, actual)];
  return expected.flatMap((value, index) => findMismatches(value, actual[index], `${place}/${index}`));
}

interface Operation {
  readonly operand: unknown;
  readonly actual: unknown;
  readonly place: string;
}

function withOperator(operator: string, { operand, actual, place }: Operation): string[] {
  const holds = (): boolean => {
    if (typeof actual === "string") return actual.includes(String(operand));
    return Array.isArray(actual) && actual.some((item) => findMismatches(operand, item).length === 0);
  };
  switch (operator) {
    case "$contains":
      return holds() ? [] : [mismatch(place, { $contains: operand }, actual)];
    case "$excludes":
      return actual !== undefined && !holds() ? [] : [mismatch(place, { $excludes: operand }, actual)];
    case "$length":
      return Array.isArray(actual) && actual.length === operand ? [] : [mismatch(place, { $length: operand }, actual)];
    case "$any":
      return isAny(operand, actual) ? [] : [mismatch(place, { $any: operand }, actual)];
    default:
      throw new Error(`Unknown operator: ${operator}`);
  }
}

function isAny(operands: unknown, actual: unknown): boolean {
  return Array.isArray(operands) && operands.some((operand) => findMismatches(operand, actual).length === 0);
}

function mismatch(place: string, expected: unknown, actual: unknown): string {
  return `${place === "" ? "/" : place}: expected ${show(expected)}, found ${show(actual)}`;
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
