import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createGlob } from "./glob.ts";

function matches(pattern: string, path: string): boolean | undefined {
  return createGlob(pattern, { left: 1_000_000 })?.(path);
}

// Cases of Ruby's documentation of File.fnmatch and of its test suite (test_fnmatch.rb), for the three flags that GitLab passes.
const table: readonly (readonly [pattern: string, path: string, expected: boolean])[] = [
  ["cat", "cat", true],
  ["cat", "category", false],
  ["c{at,ub}s", "cats", true],
  ["c{at,ub}s", "cubs", true],
  ["c{at,ub}s", "cat", false],
  ["c??t", "coat", true],
  ["c?t", "coat", false],
  ["c*", "cats", true],
  ["c/*", "c/a/b/t", false],
  ["ca[a-z]", "cat", true],
  ["ca[^t]", "cat", false],
  ["ca[!s]", "cat", true],
  ["cat", "CAT", false],
  ["?", "/", false],
  ["[/]", "/", false],
  [String.raw`\?`, "?", true],
  [String.raw`\a`, "a", true],
  [String.raw`[\?]`, "?", true],
  ["*", ".profile", true],
  [".*", ".profile", true],
  ["**/*.rb", "main.rb", true],
  ["**/*.rb", "lib/song.rb", true],
  ["**/*.rb", "lib/deep/song.rb", true],
  ["**.rb", "main.rb", true],
  ["**.rb", "./main.rb", false],
  ["**.rb", "lib/song.rb", false],
  ["*", "dave/.profile", false],
  ["*/*", "dave/.profile", true],
  ["**/foo", "a/b/c/foo", true],
  ["**/foo", "/a/b/c/foo", true],
  ["**/foo", "a/.b/c/foo", true],
  ["**/foo", "foo", true],
  ["**/foo", "afoo", false],
  ["**/b/*", "a/b/c", true],
  ["a/**/b", "a/b", true],
  ["a/**/b", "a/x/y/b", true],
  ["a/**/b/**/c", "a/b/x/b/y/c", true],
  ["a/**", "a/b", true],
  ["a/**", "a/b/c", false],
  ["a/**/*", "a/b/c", true],
  ["a/**/", "a/b/c", false],
  ["**/**/*.js", "x.js", true],
  ["docs/", "docs/a.md", false],
  ["docs", "docs/a.md", false],
  ["*.{js,ts}", "a.ts", true],
  ["**/*.{js,{ts,tsx}}", "src/a.tsx", true],
  ["{a,b}/{c,d}", "b/c", true],
  ["{a,}b", "b", true],
  ["{a}", "a", true],
  ["{}", "", true],
  ["a{b", "a{b", false],
  ["a}b", "a}b", true],
  [String.raw`\{a,b\}`, "{a,b}", true],
  ["[a-", "a", false],
  ["[]", "]", false],
  ["[a-c-]", "-", true],
  ["[]a]", "a", false],
  ["a*b*c", "aXbYbZc", true],
  ["a*b*c", "aXbYbZ", false],
  ["*a", "ba", true],
  [String.raw`a\/b`, "a/b", true],
  ["?.md", "é.md", true],
  ["?.md", "😀.md", true],
  ["[😀]", "😀", true],
  ["\\", "", true],
  ["a\\", "a", true],
  ["*\\", "ab", true],
  ["!(a)", "b", false],
  ["+(a)", "aa", false],
  ["", "", true],
  ["", "a", false],
  ["Dockerfile", "x/Dockerfile", false],
];

describe("createGlob()", () => {
  test.each(table)("createGlob() compares as Ruby does: %s, %s: %s", (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  test("createGlob() refuses a pattern that is too long or has too many alternatives", () => {
    expect(matches("a".repeat(5000), "a")).toBeUndefined();
    expect(matches("{a,b}".repeat(30), "a")).toBeUndefined();
    expect(matches("{".repeat(2000), "a")).toBe(false);
  });

  test("createGlob() stops when the work is done that it may do", () => {
    const work = { left: 100_000 };
    const glob = createGlob(`${"*a".repeat(500)}b`, work);
    for (let i = 0; i < 1000; i++) glob?.("a".repeat(2000));
    expect(work.left).toBeLessThanOrEqual(0);
    expect(glob?.("a")).toBe(false);
  });

  test("createGlob() takes any path literally once its characters are escaped", () => {
    const path = fc
      .array(fc.string({ minLength: 1, unit: "grapheme" }), { minLength: 1, maxLength: 4 })
      .map((names) => names.join("/"));
    fc.assert(
      fc.property(path, (text) => {
        const escaped = text.replaceAll(/[\\*?[\]{},!^-]/g, String.raw`\$&`);
        expect(matches(escaped, text)).toBe(true);
        expect(matches(`**/${escaped}`, `x/y/${text}`)).toBe(true);
      }),
    );
  });

  test("createGlob() never throws", () => {
    const text = fc.string({ unit: fc.constantFrom(...Array.from("ab/*?[]{},!^-\\.😀")) });
    fc.assert(
      fc.property(text, text, (pattern, path) => {
        expect([true, false, undefined]).toContain(matches(pattern, path));
      }),
    );
  });
});
