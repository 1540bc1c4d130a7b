import { readYaml, Report } from "@steps/source";
import { describe, expect, test } from "vitest";
import { decide, type Given, PUSH, variables, verdict } from "../../test/rules.ts";
import { decidePipeline } from "./decide.ts";
import { readRules } from "./read-rules.ts";
import type { RuleReport } from "./rule-codes.ts";
import { type Situation, SituationError } from "./situation.ts";

describe("decideJob(): rules", () => {
  test("decideJob() takes the first rule of which every condition holds", async () => {
    const text = `
rules:
  - if: $A == "no"
  - if: $A
    changes: [src/*]
    when: always
  - if: $A
    exists: ["*.md"]
    when: manual
    allow_failure: true
    variables: {FROM: third}
    needs: [build]
    interruptible: true
  - when: always
`;
    const situation = { changedFiles: () => ["docs/a.md"], trackedFiles: () => ["docs/a.md", "README.md"] };
    const decision = await decide(text, { values: { A: "yes" }, situation });
    expect(decision).toMatchObject({ isIn: true, when: "manual", allowFailure: true, interruptible: true });
    expect(decision.by).toMatchObject({ kind: "rule", index: 2 });
    expect([...decision.variables].map(([name, { value }]) => [name, value])).toEqual([["FROM", "third"]]);
    expect(decision.needs).toMatchObject({ kind: "list" });
    expect(decision.rules.map(({ matches, conditions }) => [matches, conditions.map(({ holds }) => holds)])).toEqual([
      [false, [false]],
      [false, [true, false]],
      [true, [true, true]],
    ]);
  });

  test.each([
    ["rules: [{when: never}]", 'out: Rule 1 matches and says "when: never"'],
    ["rules: [{if: $NONE}]", "out: The rule does not match"],
    ["rules: [{if: $NONE}, {if: $NONE}]", "out: None of 2 rules matches"],
    ["rules: []", "out: The list of rules is empty"],
    ["rules: [{if: $NONE}, {when: on_success}]", "in: Rule 2 matches"],
    ["rules: [[{if: $NONE}], [[{if: null, when: always}]]]", "in: Rule 2 matches"],
  ])("decideJob() of %j is %s", async (text, expected) => {
    expect(await verdict(text)).toBe(expected);
  });

  test("decideJob() starts a job as the rule says, else as the job says", async () => {
    const start = async (text: string): Promise<unknown> => {
      const { when, startIn, allowFailure } = await decide(text);
      return { when, startIn, allowFailure };
    };
    expect(await start("rules: [{if: '\"x\"'}]")).toEqual({
      when: "on_success",
      startIn: undefined,
      allowFailure: false,
    });
    expect(await start("when: manual\nrules: [{if: '\"x\"'}]")).toMatchObject({ when: "manual", allowFailure: true });
    expect(await start("rules: [{when: manual}]")).toMatchObject({ when: "manual", allowFailure: false });
    expect(await start("when: manual\nrules: [{allow_failure: false}]")).toMatchObject({ allowFailure: false });
    expect(await start("rules: [{when: delayed, start_in: 5 minutes}]")).toMatchObject({
      when: "delayed",
      startIn: "5 minutes",
    });
    expect(await start("when: delayed\nstart_in: 1 day")).toMatchObject({ when: "delayed", startIn: "1 day" });
    expect(await start("allow_failure: {exit_codes: [1, 42]}")).toMatchObject({ allowFailure: { exitCodes: [1, 42] } });
    expect(await start("allow_failure: {exit_codes: 3}")).toMatchObject({ allowFailure: { exitCodes: [3] } });
    expect(await start("when: manual")).toMatchObject({ when: "manual", allowFailure: true });
  });

  test("decideJob() asks about changes since what the rule names", async () => {
    const asked: (string | undefined)[] = [];
    const situation = {
      changedFiles: (since: string | undefined) => {
        asked.push(since);
        if (since === "nowhere") throw new SituationError("There is no commit nowhere");
        return since === "release/1" ? ["a/b.ts"] : undefined;
      },
    };
    const values = { VERSION: "$N", N: "1", DIR: "a" };
    const text = "rules: [{changes: {paths: ['$DIR/*.ts'], compare_to: 'release/$VERSION'}}]";
    expect(await verdict(text, { values, situation })).toBe("in: Rule 1 matches");
    expect(await verdict("rules: [{changes: [x]}]", { values, situation })).toBe("in: Rule 1 matches");
    const wrong = await decide("rules: [{changes: {paths: [x], compare_to: nowhere}}]", { situation });
    expect(wrong).toMatchObject({ isIn: false, by: { kind: "problem" }, reason: "There is no commit nowhere" });
    expect(asked).toEqual(["release/1", undefined, "nowhere"]);
  });

  test.each([
    ["{changes: ['**/*.ts']}", ["a/b.ts"], true],
    ["{changes: ['*.ts']}", ["a/b.ts"], false],
    ["{changes: ['$UNKNOWN/*']}", ["$UNKNOWN/x"], true],
    ["{changes: [a]}", [], false],
    ["{changes: []}", ["a"], false],
    ["{changes: {regexp: '^a/.*\\.ts$'}}", ["a/b.ts"], true],
    ["{changes: [nothing]}", Array.from({ length: 50_001 }, (_, i) => `f${i}`), true],
    ["{changes: [nothing]}", Array.from({ length: 50_000 }, (_, i) => `f${i}`), false],
  ])("decideJob() of a rule with %s", async (rule, files, expected) => {
    const { isIn } = await decide(`rules: [${rule}]`, { situation: { changedFiles: () => files } });
    expect(isIn).toBe(expected);
  });

  test.each([
    ["{exists: [Dockerfile]}", true],
    ["{exists: [docs/]}", true],
    ["{exists: [docs]}", false],
    ["{exists: ['**/*.md']}", true],
    ["{exists: ['$DIR/*.md']}", true],
    ["{exists: ['$NESTED/*.md']}", false],
    ["{exists: ['*.md']}", false],
    ["{exists: {paths: [there], project: 'group/other', ref: v1}}", true],
    ["{exists: {paths: [here], project: group/other}}", false],
    ["{exists: {regexp: '^Docker'}}", true],
  ])("decideJob() of a rule with %s", async (rule, expected) => {
    const trackedFiles: Situation["trackedFiles"] = ({ project, ref }) =>
      Promise.resolve(project === undefined ? ["Dockerfile", "docs/a.md"] : [ref === "v1" ? "there" : "elsewhere"]);
    const { isIn } = await decide(`rules: [${rule}]`, {
      situation: { trackedFiles },
      values: { DIR: "docs", NESTED: "$DIR" },
    });
    expect(isIn).toBe(expected);
  });

  test("decideJob() takes more comparisons than GitLab makes for a match of exists", async () => {
    const files = Array.from({ length: 10_001 }, (_, i) => `f${i}`);
    const given = (count: number): Given => ({ situation: { trackedFiles: () => files.slice(0, count) } });
    expect((await decide("rules: [{exists: ['x*/y']}]", given(10_000))).isIn).toBe(false);
    expect((await decide("rules: [{exists: ['x*/y']}]", given(10_001))).isIn).toBe(true);
    expect((await decide("rules: [{exists: ['**/*.md']}]", given(10_001))).isIn).toBe(false);
  });
});

describe("decideJob(): only and except", () => {
  const MERGE_REQUEST = { source: "merge_request_event", ref: "feature" };
  const TAG = { ref: "v1", isTag: true };

  test.each<[text: string, situation: Partial<Situation>, isIn: boolean]>([
    ["{}", {}, true],
    ["{}", TAG, true],
    ["{}", { source: "schedule" }, true],
    ["{}", MERGE_REQUEST, false],
    ["only: [main]", {}, true],
    ["only: main", {}, true],
    ["only: [main]", { ref: "other" }, false],
    ["only: [/^rel-\\d/]", { ref: "rel-1" }, true],
    ["only: [/^REL/i]", { ref: "rel-1" }, true],
    ["only: [/^rel/]", { ...MERGE_REQUEST, ref: "rel-1" }, false],
    ["only: [tags]", TAG, true],
    ["only: [tags]", {}, false],
    ["only: [branches]", {}, true],
    ["only: [branches]", TAG, false],
    ["only: [branches]", MERGE_REQUEST, false],
    ["only: [merge_requests]", MERGE_REQUEST, true],
    ["only: [pushes]", {}, true],
    ["only: [push]", {}, true],
    ["only: [schedules]", { source: "schedule" }, true],
    ["only: [web]", { source: "web" }, true],
    ["only: [external_pull_requests]", { source: "external_pull_request_event" }, true],
    ["only: [main@group/app]", {}, true],
    ["only: [main@group/other]", {}, false],
    ["only: [branches@group/app]", {}, true],
    ["except: [main]", {}, false],
    ["except: [main]", { ref: "other" }, true],
    ["except: [main]", MERGE_REQUEST, false],
    ["except: {refs: [other], kubernetes: active}", {}, true],
    ["except: {kubernetes: active}", { hasKubernetes: true }, false],
    ["only: {kubernetes: active}", { hasKubernetes: true }, true],
    ["only: {kubernetes: active}", {}, false],
    ["only: {variables: ['$A == \"a\"', $NONE]}", {}, true],
    ["only: {variables: [$NONE]}", {}, false],
    ["only: {variables: []}", {}, false],
    ["except: {variables: [$NONE]}", {}, true],
    ["except: {variables: [$A]}", {}, false],
    ["only: {changes: ['*.ts']}", { changedFiles: () => ["a.ts"] }, true],
    ["only: {changes: ['$A.ts']}", { changedFiles: () => ["a.ts"] }, false],
    ["only: {changes: ['*.ts']}", {}, true],
    ["only: {refs: [main], variables: [$NONE]}", {}, false],
    ["except: {refs: [other], variables: [$A]}", {}, false],
  ])("decideJob() of %j in %j is %s", async (text, situation, isIn) => {
    expect((await decide(text, { situation, values: { A: "a" } })).isIn).toBe(isIn);
  });

  test("decideJob() asks nothing of a job that says nothing where the workflow has rules", async () => {
    expect(await verdict("{}", { situation: MERGE_REQUEST, hasWorkflowRules: true })).toBe("in: Nothing keeps it out");
    expect(await verdict("{}", { situation: MERGE_REQUEST })).toBe(
      "out: A pipeline of a merge request is none of branches, tags; a job without rules is in no other pipeline",
    );
  });
});

describe("decidePipeline()", () => {
  test("decidePipeline() lets in what a rule without when matches, and everything without rules", async () => {
    const { documents } = readYaml({ name: "ci.yml", text: "[{if: $A == 'a', variables: {X: x}}, {when: never}]" });
    const report: RuleReport = new Report();
    const rules = readRules(documents[0] as never, "workflow", report);
    expect(report.finish()).toEqual([]);
    const options = { situation: PUSH, variables: variables({ A: "a" }) };
    expect(await decidePipeline(rules, options)).toMatchObject({ isIn: true, when: "always" });
    expect(await decidePipeline(rules, { ...options, variables: variables({}) })).toMatchObject({ isIn: false });
    expect(await decidePipeline(undefined, options)).toMatchObject({ isIn: true });
    expect(await decidePipeline([], options)).toMatchObject({ isIn: false });
  });
});
