import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { literalStart, matchesGlob, readGlob } from "./glob.ts";

const matches = (pattern: string, path: string): boolean => matchesGlob(readGlob(pattern), path);

describe("readGlob() has the semantics of doublestar v4", () => {
  test.each([
    ["dist", "dist"],
    ["*", ".hidden"],
    ["a*", "abc"],
    ["a*/b", "abc/b"],
    ["a*b*c*d*e*/f", "axbxcxdxexxx/f"],
    ["a*b?c*x", "abxbbxdbxebxczzx"],
    ["ab[b-d]", "abc"],
    ["ab[^e-g]", "abc"],
    ["ab[!e-g]", "abc"],
    ["[\\]a]", "]"],
    ["[\\-x]", "-"],
    ["a?b", "a☺b"],
    ["a\\*b", "a*b"],
    ["a/**", "a"],
    ["a/**", "a/b"],
    ["a/**", "a/b/.c"],
    ["**", "a/b"],
    ["**/c", "c"],
    ["**/c", "a/b/c"],
    ["a/**/b", "a/b"],
    ["a/**/**/d", "a/b/c/d"],
    ["abc**", "abcd"],
    ["**abc", "abc"],
    ["ab{c,d}", "abd"],
    ["ab{c,d,*}", "abcde"],
    ["{a,b/c}/x", "b/c/x"],
    ["{a,{b,c}d}", "cd"],
    ["a{,.map}", "a"],
    ["[{]", "{"],
    ["*.{js,css}", "x.css"],
  ])("%s matches %s", (pattern, path) => {
    expect(matches(pattern, path)).toBe(true);
  });

  test.each([
    ["dist", "dist/x"],
    ["a*", "ab/c"],
    ["a*/b", "a/c/b"],
    ["a*b?c*x", "abxbbxdbxebxczzy"],
    ["ab[e-g]", "abc"],
    ["ab[^b-d]", "abc"],
    ["a???b", "a☺b"],
    ["a?b", "a/b"],
    ["*[a-ζ]", "A"],
    ["a\\*b", "ab"],
    ["**/c", "a/abc"],
    ["a/\\**", "a/b/c"],
    ["abc**", "abc/d"],
    ["{a,b}", "{a,b}"],
    ["a/**/b", "x/a/b"],
  ])("%s does not match %s", (pattern, path) => {
    expect(matches(pattern, path)).toBe(false);
  });

  test.each(["a[", "[]a]", "[^]", "{a,b", "{a,b}".repeat(12)])("%s is refused", (pattern) => {
    expect(() => readGlob(pattern)).toThrow(/the pattern/);
  });

  test("a path is matched in parts as by a regular expression", () => {
    const char = fc.constantFrom("a", "b", ".");
    const token = fc.oneof(char, fc.constantFrom("*", "?", "[ab]", "[^a]", "{a,b.}"));
    const part = fc.oneof(
      { weight: 4, arbitrary: fc.array(token, { minLength: 1, maxLength: 4 }) },
      fc.constant(["**"]),
    );
    const name = fc.array(char, { minLength: 1, maxLength: 4 }).map((chars) => chars.join(""));
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), path, (parts, text) => {
        const pattern = parts.map((tokens) => tokens.join("")).join("/");
        const expression = `^${parts
          // Neighbours that join to "**" as a whole part are one.
          .map((tokens) => (tokens.join("") === "**" ? "(?:[^/]+/)*" : `${tokens.map(regexOf).join("")}/`))
          .join("")}$`;
        expect(matches(pattern, text)).toBe(new RegExp(expression, "u").test(`${text}/`));
      }),
    );
  });

  test("a pattern of many stars takes no more than the product of both lengths", () => {
    expect(matches(`${"*a".repeat(200)}b`, "a".repeat(4000))).toBe(false);
    expect(matches(`${"**/a/".repeat(50)}b`, "a/".repeat(2000))).toBe(false);
  });
});

test("literalStart() gives the folders that a pattern names", () => {
  expect(literalStart("a/b/*.js")).toEqual(["a", "b"]);
  expect(literalStart("a/b")).toEqual(["a", "b"]);
  expect(literalStart("{a,b}/c")).toEqual([]);
});

function regexOf(token: string): string {
  if (token === "*") return "[^/]*";
  if (token === "?") return "[^/]";
  if (token === "[^a]") return "[^a/]";
  if (token === "{a,b.}") return "(?:a|b\\.)";
  return token === "." ? "\\." : token;
}
