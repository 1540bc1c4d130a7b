import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { folderOf, matchesWildcard } from "./wildcard.ts";

describe("matchesWildcard()", () => {
  test.each([
    ["ci/*.yml", "ci/a.yml", true],
    ["ci/*.yml", "ci/x/a.yml", false],
    ["ci/**.yml", "ci/a.yml", true],
    ["ci/**.yml", "ci/x/a.yml", true],
    ["ci/**/*.yml", "ci/a.yml", false],
    ["ci/**/*.yml", "ci/x/y/a.yml", true],
    ["*.yml", "a.yml", true],
    ["*.yml", "a.yml.bak", false],
    ["a*a", "a", false],
    ["ci/***.yml", "ci/x/a.yml", true],
    ["ci/*.y?l", "ci/a.yml", false],
  ])("%s and %s: %s", (pattern, path, expected) => {
    expect(matchesWildcard(pattern, path)).toBe(expected);
  });

  test("says what a regular expression says", () => {
    const text = (...units: string[]): fc.Arbitrary<string> =>
      fc.string({ unit: fc.constantFrom(...units), maxLength: 12 });
    fc.assert(
      fc.property(text("a", "b", "/", "*"), text("a", "b", "/"), (pattern, path) => {
        const expression = pattern.replaceAll(/\*\*|\*/g, (wildcard) => (wildcard === "**" ? "[^]*" : "[^/]*"));
        expect(matchesWildcard(pattern, path)).toBe(new RegExp(`^${expression}$`).test(path));
      }),
      { numRuns: 1000 },
    );
  });
});

test("folderOf() gives the folder before the first wildcard", () => {
  expect(["ci/*.yml", "*.yml", "a/b/**/c/*.yml", "a/b*/c.yml"].map(folderOf)).toEqual(["ci", "", "a/b", "a"]);
});
