import { expect, test } from "vitest";
import { escapePointer, unescapePointer } from "./pointer.ts";

test.each([
  ["plain", "plain"],
  ["a/b", "a~1b"],
  ["~1/", "~01~1"],
  ["", ""],
])("the name %j is the segment %j of a pointer, and back", (name, segment) => {
  expect(escapePointer(name)).toBe(segment);
  expect(unescapePointer(segment)).toBe(name);
});
