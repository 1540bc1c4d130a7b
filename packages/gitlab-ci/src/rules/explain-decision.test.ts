import { describe, expect, test } from "vitest";
import { decide } from "../../test/rules.ts";
import { explainDecision } from "./explain-decision.ts";
import { SituationError } from "./situation.ts";

describe("explainDecision()", () => {
  test("explainDecision() tells each rule with its place, its conditions and the values they saw", async () => {
    const text = `rules:
  - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $TOKEN
    changes: [src/**/*]
  - if: $CI_PIPELINE_SOURCE == "schedule" || $A =~ $P
  - exists: [Dockerfile]
    when: manual
`;
    const decision = await decide(text, {
      values: {
        CI_COMMIT_BRANCH: "main",
        CI_DEFAULT_BRANCH: "main",
        CI_PIPELINE_SOURCE: "push",
        TOKEN: { value: "hidden", isRaw: true, isMasked: true },
        A: "\u001B[31ma",
        P: "text",
      },
      situation: { changedFiles: () => ["docs/a.md"], trackedFiles: () => ["Dockerfile"] },
    });
    const isMasked = (name: string): boolean => name === "TOKEN";
    expect(explainDecision(decision, { jobName: "deploy", isMasked })).toEqual([
      `The job "deploy" is in the pipeline: Rule 3 matches.`,
      "  rule 1 (ci.yml:2) does not match",
      "    if: yes, $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $TOKEN",
      `      $CI_COMMIT_BRANCH is "main"`,
      `      $CI_DEFAULT_BRANCH is "main"`,
      "      $TOKEN is [MASKED]",
      "    changes: no, the file that changed does not match src/**/*",
      "  rule 2 (ci.yml:4) does not match",
      `    if: no, $CI_PIPELINE_SOURCE == "schedule" || $A =~ $P`,
      `      $CI_PIPELINE_SOURCE is "push"`,
      String.raw`      $A is "\u001b[31ma"`,
      `      $P is "text"`,
      "      $A =~ $P: the right side is no pattern, so the left text is looked for in it",
      "  rule 3 (ci.yml:5) matches",
      "    exists: yes, Dockerfile exists and matches Dockerfile",
      "  when: manual",
    ]);
  });

  test("explainDecision() never shows the value of a masked variable, wherever it was filled in", async () => {
    const decision = await decide("rules: [{changes: {paths: ['$S/*', '$N/*'], compare_to: '$N'}}]", {
      values: { S: { value: "hidden", isRaw: true, isMasked: true }, N: "<$S>" },
      situation: { changedFiles: () => ["hidden.ts"] },
    });
    expect(explainDecision(decision).join("\n")).not.toContain("hidden/");
    expect(explainDecision(decision).join("\n")).not.toContain("<hidden>");
  });

  test("explainDecision() tells what cannot be decided with its place", async () => {
    const situation = {
      trackedFiles: () => {
        throw new SituationError("There is no project group/none");
      },
    };
    const decision = await decide("rules:\n  - exists: {paths: [a], project: group/none}", { situation });
    expect(explainDecision(decision, { jobName: "a" })[0]).toBe(
      `The job "a" is not in the pipeline: There is no project group/none (ci.yml:2).`,
    );
  });
});
