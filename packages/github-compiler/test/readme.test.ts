import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { environment, job, mistakes, specDefinition } from "./example.ts";

const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");

test("shows the example as it runs", () => {
  const example = readFileSync(join(import.meta.dirname, "example.ts"), "utf8");
  expect(readme).toContain(example.replaceAll(/^export (?=const)/gm, ""));
});

test("shows what comes of it", () => {
  expect(readme).toContain(mistakes.join("\n"));
  expect(job).toMatchObject({ name: "test (ubuntu-latest, 24)", runsOn: ["ubuntu-latest"] });
  expect(specDefinition?.definition).toMatchObject({
    type: "steps",
    steps: [{ step: { kind: "action", repository: "actions/checkout" } }, { step: { kind: "inline" } }],
    github: { using: "job", contexts: { matrix: { os: "ubuntu-latest", node: 24 } } },
  });
  expect(environment).toMatchObject({
    GITHUB_REF: "refs/tags/v1.0",
    GITHUB_REPOSITORY: "group/project",
    RUNNER_OS: "Linux",
  });
});
