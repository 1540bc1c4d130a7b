import { expect, test } from "vitest";
import { findMismatches } from "../src/find-mismatches.ts";

const actual = { a: 1, text: "hello", list: [{ n: 1 }, { n: 2 }] };

test.each<unknown>([
  { a: 1 },
  { text: { $contains: "ell" } },
  { text: { $excludes: "x" } },
  { missing: "$absent", a: "$number", text: "$string" },
  { list: [{ n: 1 }, {}] },
  { list: { $length: 2 } },
  { list: { $contains: { n: 2 } } },
  { a: { $any: [2, 1] } },
])("finds nothing in %j", (expected) => {
  expect(findMismatches(expected, actual)).toEqual([]);
});

test.each<[unknown, string]>([
  [{ a: 2 }, "/a: expected 2, found 1"],
  [{ a: "$absent" }, '/a: expected "nothing", found 1'],
  [{ a: "$string" }, '/a: expected "$string", found 1'],
  [{ b: 1 }, "/b: expected 1, found nothing"],
  [{ text: { $contains: "x" } }, '/text: expected {"$contains":"x"}, found "hello"'],
  [{ text: { $excludes: "ell" } }, '/text: expected {"$excludes":"ell"}, found "hello"'],
  [{ none: { $excludes: "x" } }, '/none: expected {"$excludes":"x"}, found nothing'],
  [{ list: [{ n: 1 }] }, '/list: expected [{"n":1}], found [{"n":1},{"n":2}]'],
  [{ list: [{ n: 1 }, { n: 3 }] }, "/list/1/n: expected 3, found 2"],
  [{ list: { $contains: { n: 3 } } }, '/list: expected {"$contains":{"n":3}}, found [{"n":1},{"n":2}]'],
  [{ a: { $any: [2, 3] } }, '/a: expected {"$any":[2,3]}, found 1'],
  [{ a: { b: 1 } }, '/a: expected {"b":1}, found 1'],
])("finds what differs in %j", (expected, mismatch) => {
  expect(findMismatches(expected, actual)).toEqual([mismatch]);
});

test("knows only its own operators", () => {
  expect(() => findMismatches({ a: { $more: 1 } }, actual)).toThrow("Unknown operator: $more");
});
