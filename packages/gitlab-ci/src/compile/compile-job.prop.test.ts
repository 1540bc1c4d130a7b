import { hasErrors } from "@steps/model/diagnostic";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { JOB_SHAPES } from "../load/schema/keyword-shapes.ts";
import { loadPipelineNow } from "../load/load-pipeline.ts";
import { compileJob } from "./compile-job.ts";

const JOB_KEYWORDS = Object.keys(JOB_SHAPES);

function check(text: string, jobName: string): void {
  const source = { name: "x.yml", text };
  const { pipeline, diagnostics: ofFile } = loadPipelineNow(source);
  expect(pipeline === undefined).toBe(hasErrors(ofFile));
  if (pipeline === undefined) return;
  const { job, diagnostics } = compileJob(pipeline, { jobName, overrides: { A: "$B" } });
  expect(job === undefined).toBe(hasErrors(diagnostics));
  job?.positionOf("/definition/steps/0/inputs/script");
  expect([...pipeline.groups.keys()].every((name) => !name.startsWith("."))).toBe(true);
}

test("never throws for any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ maxLength: 5 }), (text, name) => {
      check(text, name);
    }),
    { numRuns: 500 },
  );
});

const pieces = [
  ...JOB_KEYWORDS.slice(0, 8),
  "test:",
  "default:",
  "variables:",
  "  ",
  "- ",
  ": ",
  "\n",
  "&a ",
  "*a",
  "<<: ",
  "!reference [a]",
  "{",
  "}",
  "[",
  "]",
  "---\n",
  "spec:",
  "'",
  '"',
  "|\n",
  "$A",
  "${",
  "}",
  "$[[ ",
  "true",
  "010",
  "~",
  "#",
  "__proto__",
  "? ",
  ".x:",
];

test("never throws for texts that look like a file", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (parts) => {
      check(`test:\n  script: a\n${parts.join("")}`, "test");
      check(parts.join(""), "test");
    }),
    { numRuns: 1000 },
  );
});

test("never throws for any value of any keyword", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...JOB_KEYWORDS),
      fc.json({ maxDepth: 5 }),
      fc.boolean(),
      (keyword, json, isDefault) => {
        const value = `  ${JSON.stringify(keyword)}: ${json}\n`;
        check(isDefault ? `default:\n${value}test:\n  script: a\n` : `test:\n  script: a\n${value}`, "test");
        check(`test:\n${value}`, "test");
      },
    ),
    { numRuns: 1000 },
  );
});
