import { describe, expect, test } from "vitest";
import { PUSH, variables } from "../../test/rules.ts";
import { loadPipeline } from "../load/load-pipeline.ts";
import { createIncludeRules } from "./include-rules.ts";
import type { FilesOf, Situation } from "./situation.ts";

async function load(rules: string, situation: Partial<Situation> = {}): Promise<readonly string[]> {
  const text = `include:\n  - local: more.yml\n    rules: ${rules}\nown: {script: echo}\n`;
  const { pipeline, diagnostics } = await loadPipeline(
    { name: "ci.yml", text },
    {
      loadFile: () => ({ source: { name: "more.yml", text: "more: {script: echo}\n" }, context: {} }),
      includeRules: createIncludeRules({ situation: { ...PUSH, ...situation }, variables: variables({ A: "a" }) }),
      context: { project: "group/other", ref: "v1" },
    },
  );
  return pipeline === undefined ? diagnostics.map(({ message }) => message) : [...pipeline.jobs.keys()];
}

describe("createIncludeRules()", () => {
  test.each([
    [`[{if: $A == "a"}]`, ["more", "own"]],
    [`[{if: $NONE}]`, ["own"]],
    [`[{if: $A, when: never}, {when: always}]`, ["own"]],
    [`[{if: $A, when: null}]`, ["more", "own"]],
    [`[{if: $A =}]`, [`"=" is no part of a condition`]],
    [`[{when: manual}]`, [`"when" is none of always, never: "manual"`]],
    [`[{if: $A, variables: {B: b}}]`, [`The rule has an unknown key: "variables"`]],
  ])("createIncludeRules() lets in what rules of %s say", async (rules, jobs) => {
    expect(await load(rules)).toEqual(jobs);
  });

  test("createIncludeRules() looks for files in the project that holds the include", async () => {
    const asked: FilesOf[] = [];
    const trackedFiles = (from: FilesOf): readonly string[] => {
      asked.push(from);
      return ["Dockerfile"];
    };
    expect(await load("[{exists: [Dockerfile]}]", { trackedFiles })).toEqual(["more", "own"]);
    expect(await load("[{exists: {paths: [x], project: a/b}}]", { trackedFiles })).toEqual(["own"]);
    expect(asked).toEqual([
      { project: "group/other", ref: "v1" },
      { project: "a/b", ref: undefined },
    ]);
  });
});
