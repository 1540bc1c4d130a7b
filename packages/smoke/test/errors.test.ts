import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./workspace.ts";

const document = ["errors.md", "diagnostics.md"]
  .map((name) => readFileSync(join(root, "docs/reference", name), "utf8"))
  .join("\n");
const documented = new Set(Array.from(document.matchAll(/`([A-Z][A-Z_]+|[a-z]+(?:-[a-z]+)+)`/g), ([, code]) => code));
const sources = readSources("packages/*/src/**/*.ts");
const commands = readSources("apps/*/src/**/*.ts");

function readSources(pattern: string): string[] {
  const files = globSync(pattern, { cwd: root }).filter((file) => !/\.test\.ts$|\/gen\//.test(file));
  return files.map((file) => readFileSync(join(root, file), "utf8"));
}

function found(pattern: RegExp, code: RegExp): string[] {
  const texts = sources.flatMap((source) => Array.from(source.matchAll(pattern), ([, text]) => text ?? ""));
  return [...new Set(texts.flatMap((text) => Array.from(text.matchAll(code), ([, name]) => name ?? "")))].toSorted(
    (a, b) => (a < b ? -1 : 1),
  );
}

// Names of variables stand where codes may stand, too.
const VARIABLE = /^(?:GITHUB|CI|GITLAB)_|^GIT_STRATEGY$|_HOST$|_FLAGS$/;

const unions = found(/export type \w+ErrorCode =([^;]+);/g, /"([A-Z_]+)"/g);
const failures = found(
  /(?:StepsError<|\bcode: |(?:\?|:|\?\?) |throw new \w+Error\(\s*)("[A-Z]+(?:_[A-Z]+)+")/g,
  /"([A-Z_]+)"/g,
).filter((name) => !VARIABLE.test(name));
const diagnostics = found(/\bcode: ([^,\n]*"[a-z]+(?:-[a-z]+)+"[^,\n]*)/g, /"([a-z]+(?:-[a-z]+)+)"/g);

describe("docs/reference/errors.md", () => {
  test.each([
    ["error unions", unions, 60],
    ["errors and failures that are made somewhere", failures, 20],
    ["diagnostics", diagnostics, 45],
  ])("names every code of the %s", (_, codes, atLeast) => {
    expect(codes.length).toBeGreaterThan(atLeast);
    expect(codes.filter((code) => !documented.has(code))).toEqual([]);
  });

  test("names no code that is gone", () => {
    const all = [...sources, ...commands].join("\n");
    const gone = [...documented].filter(
      (code) => code !== undefined && !VARIABLE.test(code) && !all.includes(`"${code}"`),
    );
    expect(gone).toEqual([]);
  });
});
