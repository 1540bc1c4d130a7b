import { hasErrors } from "@steps/model/diagnostic";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toCiValue } from "../../src/load/ci-value.ts";
import { keywordPosition } from "../../src/load/loaded-pipeline.ts";
import { JOB_SHAPES } from "../../src/load/schema/keyword-shapes.ts";
import { load, loaded, plain } from "./fixtures.ts";

function check(text: string, files: Readonly<Record<string, string>> = {}): void {
  const { pipeline, diagnostics } = load(text, files, { matchPattern: () => true, inputCondition: () => true });
  expect(pipeline === undefined).toBe(hasErrors(diagnostics));
  for (const job of pipeline?.jobs.values() ?? []) {
    for (const [keyword, { value }] of job.keywords) {
      toCiValue(value);
      expect(keywordPosition(job, [keyword, 0, "x"]).line).toBeGreaterThan(0);
    }
  }
}

test("loadPipeline() never throws for any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => check(text)),
    { numRuns: 300 },
  );
});

const pieces = [
  ...Object.keys(JOB_SHAPES),
  "test:",
  "default:",
  "variables:",
  "include: [a.yml]",
  "stages:",
  "spec: {inputs: {a: }}\n---\n",
  "matrix:",
  "extends: [.a, test]",
  ".a:",
  "  ",
  "    ",
  "- ",
  ": ",
  "\n",
  "&a ",
  "*a",
  "<<: ",
  "!reference [a, script]",
  "!reference [test]",
  "{",
  "}",
  "[",
  "]",
  "$[[ inputs.a | truncate(0, 1) ]]",
  "a: {script: x}",
  "2026-01-01",
];

test("loadPipeline() never throws for texts that look like configurations", () => {
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, texts, (text, other) => check(text, { "a.yml": other })),
    { numRuns: 500 },
  );
});

type Tree = string | { readonly [key: string]: Tree };

function mergeTrees(base: Tree | undefined, over: Tree): Tree {
  if (base === undefined || typeof base === "string" || typeof over === "string") return over;
  const merged: Record<string, Tree> = { ...base };
  for (const [key, value] of Object.entries(over)) merged[key] = mergeTrees(merged[key], value);
  return merged;
}

const { tree } = fc.letrec<{ tree: Tree; branch: Tree }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, fc.constantFrom("x", "y", "z"), tie("branch")),
  branch: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("tree"), { maxKeys: 3 }),
}));

test("extends and include merge as a naive deep merge does", () => {
  const branch = fc.dictionary(fc.constantFrom("a", "b", "c"), tree, { maxKeys: 3 });
  fc.assert(
    fc.property(fc.array(branch, { minLength: 1, maxLength: 4 }), (trees) => {
      const expected = trees.reduce<Tree>((merged, one) => mergeTrees(merged, one), {});
      const names = trees.map((_, index) => `.t${index}`);
      const hidden = trees.map((one, index) => `.t${index}: {v: ${JSON.stringify(one)}}\n`).join("");
      const byExtends = loaded(`${hidden}.all: {extends: [${names.join(", ")}]}\ntest: {script: s}\n`);
      const all = toCiValue(byExtends.root.entries.get(".all")?.value ?? byExtends.root) as Record<string, unknown>;
      expect(plain(all["v"])).toEqual(expected);

      const files = Object.fromEntries(trees.map((one, n) => [`${n}.yml`, `.all: {v: ${JSON.stringify(one)}}\n`]));
      const byInclude = loaded(`include: [${Object.keys(files).join(", ")}]\ntest: {script: s}\n`, files);
      expect(plain(toCiValue(byInclude.root.entries.get(".all")?.value ?? byInclude.root))).toEqual({ v: expected });
    }),
    { numRuns: 200 },
  );
});
