import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../limits.ts";
import { foldName, nameProblem } from "./entry-name.ts";
import { createTreePlan, quote } from "./tree-plan.ts";

test("foldName() brings together what some file system takes for the same", () => {
  for (const [one, other] of [
    ["README", "readme"],
    ["é", "e\u0301"],
    ["Straße", "STRASSE"],
    ["Σ", "ς"],
    ["\u212a", "k"],
  ]) {
    expect(foldName(one as string)).toBe(foldName(other as string));
  }
  expect(foldName("a")).not.toBe(foldName("b"));
});

test("nameProblem() leaves usual names alone", () => {
  const names = [
    ".gitignore",
    ".gitmodules",
    ".github",
    "git",
    "a b",
    "a.b.c",
    "naïve",
    "日本",
    "console",
    "com10",
    "ab:c",
  ];
  expect(names.filter((name) => nameProblem(name, DEFAULT_LIMITS) !== undefined)).toEqual([]);
});

test("createTreePlan() follows links through links", () => {
  const check = (links: Record<string, string>): void => {
    const plan = createTreePlan(DEFAULT_LIMITS);
    plan.add({ path: "dir/sub/file", type: "file" });
    for (const [path, target] of Object.entries(links)) plan.add({ path, type: "link" }).target = target;
    plan.checkLinks();
  };
  expect(() => check({ a: "dir", "dir/b": "../a/sub/file", c: "dir/sub/../../a" })).not.toThrow();
  expect(() => check({ a: "dir/sub", b: "a/../../dir" })).not.toThrow();
  expect(() => check({ a: "dir/sub", b: "a/../../../x" })).toThrow("leads out");
  expect(() => check({ a: ".", b: "a/.." })).toThrow("leads out");
  expect(() => check({ a: "missing/../../x" })).toThrow("leads out");
  expect(() => check({ a: "a" })).toThrow("circle");
});

test("createTreePlan() takes a folder's own entry once, before or after what is in it", () => {
  const plan = createTreePlan(DEFAULT_LIMITS);
  plan.add({ path: "a/b", type: "file" });
  plan.add({ path: "a", type: "dir" });
  expect(() => plan.add({ path: "a", type: "dir" })).toThrow("twice");
  expect(() => plan.add({ path: "A/c", type: "file" })).toThrow("case");
});

test("quote() shows a stranger's name without its control characters", () => {
  expect(quote('a\u001b[31m"\u202e')).toBe('"a\\u001b[31m\\"\u{fffd}"');
  expect(quote("x".repeat(500)).length).toBeLessThan(130);
});
