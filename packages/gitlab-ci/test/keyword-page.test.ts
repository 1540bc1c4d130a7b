import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DEFAULT_KEYWORDS, GLOBAL_KEYWORDS } from "../src/keywords.ts";
import { JOB_SHAPES, ROOT_SHAPES } from "../src/load/schema/keyword-shapes.ts";
import type { Shape } from "../src/load/schema/shape.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../../docs/reference/gitlab-ci.md"), "utf8");

/** The keys that a value may have, wherever it is a mapping. */
function keysOf(shape: Shape): readonly string[] {
  if (shape.is === "mapping") return Object.keys(shape.keys);
  if (shape.is === "either") return shape.of.flatMap(keysOf);
  return shape.is === "list" || shape.is === "map" ? keysOf(shape.of) : [];
}

/** Every keyword that is checked, and the keys of its value: `artifacts`, `artifacts:paths`. */
function keywordsOfSchema(): readonly string[] {
  const { default: _, ...root } = ROOT_SHAPES;
  const shapes = Object.entries({ ...JOB_SHAPES, ...root });
  const inner = shapes.flatMap(([keyword, shape]) => keysOf(shape).map((key) => `${keyword}:${key}`));
  return [...new Set([...GLOBAL_KEYWORDS, ...DEFAULT_KEYWORDS, ...shapes.map(([keyword]) => keyword), ...inner])];
}

/** The keywords in the first column of a page's tables. A name behind another belongs to it: `needs:project`, `ref`. */
function keywordsOfPage(page: string): ReadonlySet<string> {
  const rows = page.matchAll(/^\| ([^|]*`[^|]*) \|/gm);
  return new Set(
    [...rows].flatMap(([, cell = ""]) =>
      cell.split(";").flatMap((part) => {
        const names = [...part.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
        const owner = names[0]?.split(":")[0] ?? "";
        return names.flatMap((name) => [name, `${owner}:${name.replace(/^:/, "")}`]);
      }),
    ),
  );
}

test("the page of .gitlab-ci.yml has a row for every keyword that the schema checker knows", () => {
  const written = keywordsOfPage(PAGE);
  expect(keywordsOfSchema().filter((keyword) => !written.has(keyword))).toEqual([]);
});

test("the page of .gitlab-ci.yml would be told of a keyword that is missing", () => {
  const written = keywordsOfPage("| `a`, `:b`; `c` | x |\n| `d:e`, `f` | y |\n");
  expect([...written].toSorted()).toEqual(expect.arrayContaining(["a", "a:b", "c", "d:e", "d:f"]) as string[]);
  expect(written.has("e")).toBe(false);
});
