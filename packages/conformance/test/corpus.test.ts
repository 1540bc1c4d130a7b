import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { checkAction } from "../src/check-action.ts";
import { checkCompile } from "../src/check-compile.ts";
import { checkExpression } from "../src/check-expression.ts";
import { checkGithubExpression } from "../src/check-github-expression.ts";
import { checkRun } from "../src/check-run.ts";
import { type Case, readCases, readExpectedFailures } from "../src/read-cases.ts";

const KINDS = ["expression", "github-expression", "compile", "action", "job", "run"];

function corpus(cases: string, failures = ""): string {
  const dir = tempDir();
  mkdirSync(join(dir, "cases/topic"), { recursive: true });
  writeFileSync(join(dir, "cases/topic/file.yml"), cases);
  writeFileSync(join(dir, "expected-failures.yml"), failures);
  return dir;
}

const one = (data: Record<string, unknown>): Case => ({ id: "x", kind: "x", data });

describe("the corpus", () => {
  test("has only cases of known kinds, and a case for each expected failure", () => {
    const cases = readCases();
    expect(cases.filter(({ kind }) => !KINDS.includes(kind)).map(({ id }) => id)).toEqual([]);
    expect(cases.filter(({ kind }) => kind === "run").length).toBeGreaterThan(200);
    expect(readExpectedFailures(cases).size).toBeLessThan(cases.length);
  });

  test("has one case of a name in a file", () => {
    const item = '- {name: a, section: "1", kind: run}\n';
    expect(readCases(corpus(item)).map(({ id }) => id)).toEqual(["topic/file.yml: a"]);
    expect(() => readCases(corpus(item + item))).toThrow("Two cases have one name: topic/file.yml: a");
    expect(() => readCases(corpus("- {name: a, kind: run}\n"))).toThrow("case 1 needs the texts");
  });

  test("expects failures of cases that are there, with a reason", () => {
    const dir = (entry: string) => corpus('- {name: a, section: "1", kind: run}\n', entry);
    const read = (path: string) => readExpectedFailures(readCases(path), path);
    expect([...read(dir('- {case: "topic/file.yml: a", reason: later}\n'))]).toEqual([["topic/file.yml: a", "later"]]);
    expect(() => read(dir('- {case: "topic/file.yml: b", reason: later}\n'))).toThrow("names no case");
    expect(() => read(dir('- {case: "topic/file.yml: a"}\n'))).toThrow("needs the texts case and reason");
  });
});

describe("a checker", () => {
  test("refuses what it does not know, since a misspelt expectation would always hold", async () => {
    const expression = { template: "x", expect: { valeu: "x" } };
    expect(() => checkExpression(one(expression))).toThrow("expect does not know valeu");
    const compile = { as: "list", input: "[]", expect: { diagnostic: [] } };
    expect(() => checkCompile(one(compile))).toThrow("expect does not know diagnostic");
    const condition = { condition: "true", expect: { hold: true } };
    expect(() => checkGithubExpression(one(condition))).toThrow("expect does not know hold");
    const action = { manifest: "runs: {}", expect: { diagnostic: [] } };
    expect(() => checkAction(one(action))).toThrow("expect does not know diagnostic");
    await expect(checkRun(one({ shell: "true", commands: [] }))).rejects.toThrow("belong to each of them");
    const misspelt = { commands: [{ shell: "true", expect: { stdoutContain: [] } }] };
    await expect(checkRun(one(misspelt))).rejects.toThrow("Command 1: expect does not know stdoutContain");
  });

  test("finds an expression and an action that are something else", () => {
    const check = (data: Record<string, unknown>) => () => checkGithubExpression(one(data));
    expect(check({ text: "${{ 1 }}", expect: { value: "1" } })).toThrow("strictly deep-equal");
    expect(check({ text: "${{ 1 }}", expect: { error: { code: "UNKNOWN_NAME" } } })).toThrow("Expected an error");
    expect(check({ text: "${{ x }}", expect: { error: { code: "WRONG_ARITY" } } })).toThrow("/error/code");
    expect(check({ text: "${{ x }}", expect: { value: 1 } })).toThrow('There is no context "x"');
    expect(check({ condition: "false", expect: { holds: true } })).toThrow("/holds: expected true");
    expect(check({ condition: "true", place: "post-if", expect: { problems: [{}] } })).toThrow("/problems");
    expect(check({ condition: "true", place: "post", expect: { problems: [] } })).toThrow("There is no place");
    const manifest = "runs: {using: node24, main: a.js}";
    const action = (expected: Record<string, unknown>) => () => checkAction(one({ manifest, expect: expected }));
    action({ baseline: {} })();
    expect(action({})).toThrow('/baseline: expected "nothing"');
    expect(action({ baseline: { spec: { spec: { inputs: {} } } } })).toThrow("/baseline/spec");
    expect(action({ baseline: {}, diagnostics: [{}] })).toThrow("/diagnostics");
  });

  test("finds a command that does something else", async () => {
    const run = (expected: Record<string, unknown>) =>
      checkRun(
        one({ files: { "a.txt": "content" }, commands: [{ shell: "echo out; cat a.txt >&2", expect: expected }] }),
      );
    await run({ exit: 0, stdout: "out\n", stderr: "content", files: { "a.txt": "content" }, absent: ["b"] });
    await expect(run({ exit: 1 })).rejects.toThrow("exit code: expected 1, found 0");
    await expect(run({ stdout: "out" })).rejects.toThrow('stdout: expected "out"');
    await expect(run({ stderrContains: ["x"] })).rejects.toThrow('stderr does not hold "x"');
    await expect(run({ stdoutExcludes: ["out"] })).rejects.toThrow('stdout holds "out"');
    await expect(run({ nowhere: ["tent"] })).rejects.toThrow('stderr holds "tent"');
    await expect(run({ files: { "a.txt": "other" } })).rejects.toThrow("a.txt: expected");
    await expect(run({ absent: ["a.txt"] })).rejects.toThrow("there is a file a.txt");
    await expect(run({ trace: { root: {} } })).rejects.toThrow('trace:: expected {"root":{}}, found nothing');
  });
});
