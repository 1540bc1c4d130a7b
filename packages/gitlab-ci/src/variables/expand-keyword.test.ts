import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expandKeyword, KEYWORD_EXPANSIONS } from "./expand-keyword.ts";

const VALUES = new Map([
  ["A", "a"],
  ["B", "$A"],
  ["EMPTY", ""],
]);

const expand = (keyword: string, text: string): string => expandKeyword(keyword, text, (name) => VALUES.get(name));

describe("expandKeyword()", () => {
  test.each([
    ["rules:changes", "$A/${A}/%A%/$NONE/${NONE}/%NONE%/$$A/$EMPTY/$B", "a/a/a/$NONE/${NONE}/%NONE%/$a//$A"],
    ["environment:name", "$A/${A}/%A%/$NONE/${NONE}/%NONE%/$$A/$B", "a/a/a////$a/$A"],
    ["image", "$A/${A}/%A%/$NONE/${NONE}/$$A/$1$@/$B/$", "a/a/%A%///$A//$A/$"],
    ["rules:if", "$A", "$A"],
    ["script", "$A", "$A"],
    ["services:alias", "$A", "$A"],
    ["stage", "$A", "$A"],
  ])("expandKeyword() of %s: %j is %j", (keyword, text, expected) => {
    expect(expand(keyword, text)).toBe(expected);
  });

  test("expandKeyword() leaves a text without references as it is", () => {
    const text = fc.string({ unit: "grapheme" }).filter((value) => !/[$%]/.test(value));
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(KEYWORD_EXPANSIONS)), text, (keyword, value) => {
        expect(expand(keyword, value)).toBe(value);
      }),
    );
  });

  test("expandKeyword() takes time linear to the text", () => {
    for (const keyword of ["image", "tags"]) {
      for (const piece of ["${", "${A", "$", "%", "%A", "${A$"]) {
        expect(expand(keyword, piece.repeat(100_000)).length).toBeGreaterThan(0);
      }
    }
  });
});
