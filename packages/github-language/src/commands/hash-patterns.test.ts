import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HashPatternError } from "./command-error.ts";
import { compileHashPatterns } from "./hash-patterns.ts";

const FILES = [
  "/w/.hidden/a.lock",
  "/w/a.lock",
  "/w/b.txt",
  "/w/node_modules/a.lock",
  "/w/node_modules/x/b.txt",
  "/w/src/a.lock",
  "/w/src/deep/[x].ts",
  "/w/src/deep/er/a.lock",
  "/w/src/x1.ts",
  "/w/src/x2.ts",
];

/** Walks as a runtime does, and names what is hashed without "/w/", and every folder that was read. */
function walk(patterns: readonly string[], files: readonly string[] = FILES): { found: string[]; read: string[] } {
  const compiled = compileHashPatterns(patterns, { root: "/w", home: "/w/src" });
  const found: string[] = [];
  const read: string[] = [];
  const visit = (path: string): void => {
    if (files.includes(path)) {
      if (compiled.match(path, false) === "yes") found.push(path.slice(3));
      return;
    }
    const names = files
      .filter((file) => file.startsWith(`${path}/`))
      .map((file) => file.slice(path.length + 1).split("/")[0] as string);
    if (names.length === 0 || compiled.match(path, true) === "no") return;
    read.push(path);
    for (const name of [...new Set(names)].toSorted()) visit(`${path}/${name}`);
  };
  for (const path of compiled.searchPaths) visit(path);
  return { found, read };
}

describe("compileHashPatterns()", () => {
  test.each<[string[], string[]]>([
    [[], []],
    [["a.lock"], ["a.lock"]],
    [["./a.lock"], ["a.lock"]],
    [["/w/a.lock"], ["a.lock"]],
    [["**/a.lock"], [".hidden/a.lock", "a.lock", "node_modules/a.lock", "src/a.lock", "src/deep/er/a.lock"]],
    [
      ["**/a.lock", "!**/node_modules/**"],
      [".hidden/a.lock", "a.lock", "src/a.lock", "src/deep/er/a.lock"],
    ],
    [
      ["!**/node_modules/**", "**/a.lock"],
      [".hidden/a.lock", "a.lock", "node_modules/a.lock", "src/a.lock", "src/deep/er/a.lock"],
    ],
    [["node_modules", "!node_modules", "node_modules/x"], ["node_modules/x/b.txt"]],
    [
      ["src", "!src/deep", "src/deep/er"],
      ["src/a.lock", "src/deep/er/a.lock", "src/x1.ts", "src/x2.ts"],
    ],
    [["src/"], ["src/a.lock", "src/deep/[x].ts", "src/deep/er/a.lock", "src/x1.ts", "src/x2.ts"]],
    [["a.lock/"], []],
    [
      ["a.lock", "!a.lock/", "src/x1.ts/", "s*/"],
      ["a.lock", "src/a.lock", "src/deep/[x].ts", "src/deep/er/a.lock", "src/x1.ts", "src/x2.ts"],
    ],
    [
      ["**/", "!src/"],
      [".hidden/a.lock", "a.lock", "b.txt", "node_modules/a.lock", "node_modules/x/b.txt"],
    ],
    [["src/*"], ["src/a.lock", "src/deep/[x].ts", "src/deep/er/a.lock", "src/x1.ts", "src/x2.ts"]],
    [["src/**"], ["src/a.lock", "src/deep/[x].ts", "src/deep/er/a.lock", "src/x1.ts", "src/x2.ts"]],
    [["src/x?.ts"], ["src/x1.ts", "src/x2.ts"]],
    [["src/x[0-1].ts"], ["src/x1.ts"]],
    [["src/x[!1].ts"], ["src/x2.ts"]],
    [["src/x[^1].ts"], ["src/x2.ts"]],
    [
      ["**/*.ts", "!!**/x1.ts", "! **/x2.ts"],
      ["src/deep/[x].ts", "src/x1.ts"],
    ],
    [["**/[[]x].ts"], ["src/deep/[x].ts"]],
    [["**/\\[x].ts"], ["src/deep/[x].ts"]],
    [["src/d**/*.ts"], ["src/deep/[x].ts"]],
    [["src/**/er/**"], ["src/deep/er/a.lock"]],
    [["*"], FILES.map((file) => file.slice(3))],
    [["*.lock"], ["a.lock"]],
    [[".*/*"], [".hidden/a.lock"]],
    [["# a.lock\n\n  b.txt \n\t#x", "!#x"], ["b.txt"]],
    [["b.txt\na.lock"], ["b.txt", "a.lock"]],
    [
      ["~/x1.ts", "~"],
      ["src/a.lock", "src/deep/[x].ts", "src/deep/er/a.lock", "src/x1.ts", "src/x2.ts"],
    ],
    [["{a,b}.lock", "+(a).lock", "a.LOCK"], []],
    [["/etc/passwd", "/other/**"], []],
    [["/**/b.txt"], ["b.txt", "node_modules/x/b.txt"]],
    [["/"], FILES.map((file) => file.slice(3))],
    [["."], FILES.map((file) => file.slice(3))],
    [["--follow-symbolic-links", "a.lock"], ["a.lock"]],
  ])("%j finds %j", (patterns, expected) => {
    expect(walk(patterns).found).toEqual(expected);
  });

  test.each<[string[], string[]]>([
    [
      ["a.lock", "src/*.ts"],
      ["/w/a.lock", "/w/src"],
    ],
    [["src/deep/*", "src/*", "src/x1.ts"], ["/w/src"]],
    [["src", "src"], ["/w/src"]],
    [["**/x", "src"], ["/w"]],
    [
      ["srcs/x", "src"],
      ["/w/srcs/x", "/w/src"],
    ],
    [["!src", "/", "/x/y"], ["/w"]],
    [["[s]rc/x*"], ["/w/src"]],
    [["/w2/a", "/v"], []],
  ])("%j walks from %j", (patterns, expected) => {
    expect(compileHashPatterns(patterns, { root: "/w/" }).searchPaths).toEqual(expected);
  });

  test("does not read folders of which nothing can be hashed", () => {
    expect(walk(["**/a.lock", "!**/node_modules"]).read).toEqual([
      "/w",
      "/w/.hidden",
      "/w/src",
      "/w/src/deep",
      "/w/src/deep/er",
    ]);
    expect(walk(["**", "!node_modules/**", "node_modules/x/*"]).read).toContain("/w/node_modules/x");
    expect(walk(["src/*/er/*"]).read).toEqual(["/w/src", "/w/src/deep", "/w/src/deep/er"]);
    expect(walk(["*/x1.ts"]).read).toEqual(["/w", "/w/.hidden", "/w/node_modules", "/w/src"]);
  });

  test.each([
    ["../x"],
    ["a/../b"],
    ["a/./b"],
    ["./../a"],
    ["a/[.]./b"],
    ["!"],
    ["!!"],
    ["--follow", "a"],
    ["~/a"],
    ["a".repeat(10_001)],
    [Array(1001).fill("a").join("\n")],
  ])("refuses %.30j", (...patterns) => {
    expect(() => compileHashPatterns(patterns, { root: "/w" })).toThrow(HashPatternError);
  });

  test("says whether links are followed", () => {
    expect(compileHashPatterns(["--Follow-Symbolic-Links"], { root: "/w" }).followsSymbolicLinks).toBe(true);
    expect(compileHashPatterns(["a"], { root: "/w" }).followsSymbolicLinks).toBe(false);
  });

  test("takes names of the root for what they are", () => {
    const compiled = compileHashPatterns(["*.x"], { root: "/w/**/[a]*" });
    expect(compiled.searchPaths).toEqual(["/w/**/[a]*"]);
    expect(compiled.match("/w/**/[a]*/b.x", false)).toBe("yes");
    expect(compiled.match("/w/c/a/b.x", false)).toBe("no");
  });

  test("never leaves out what a walk over everything finds", () => {
    const part = fc.constantFrom("a", "b", "*", "**", "a*", "?", "[ab]", "[!a]");
    const pattern = fc
      .tuple(fc.boolean(), fc.array(part, { minLength: 1, maxLength: 4 }))
      .map(([isNegated, parts]) => `${isNegated ? "!" : ""}${parts.join("/")}`);
    const names = ["a", "b", "ab"];
    const files = names.flatMap((one) => names.flatMap((two) => [`/w/${one}/${two}/a`, `/w/${one}/${two}/b`]));
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 5 }), (patterns) => {
        const compiled = compileHashPatterns(patterns, { root: "/w" });
        const all = files.filter((file) => compiled.match(file, false) === "yes").map((file) => file.slice(3));
        expect(walk(patterns, files).found.toSorted()).toEqual(all.toSorted());
      }),
      { numRuns: 500 },
    );
  });

  test("takes hostile patterns and names", () => {
    const long = "a".repeat(9000);
    const compiled = compileHashPatterns([`${"*a".repeat(4000)}b`, `${"**/".repeat(3000)}b`, "[".repeat(9000)], {
      root: "/w",
    });
    expect(compiled.match(`/w/${long}`, false)).toBe("no");
    expect(compiled.match(`/w/${"a/".repeat(4000)}c`, false)).toBe("no");
    expect(compiled.match(`/w/${"a/".repeat(4000)}b`, false)).toBe("yes");
  });
});
