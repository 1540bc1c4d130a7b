import { describe, expect, test } from "vitest";
import { brief, translate } from "./fixtures.ts";

describe("the diagnostics of compileJob()", () => {
  test.each([
    ["no such job", "tset: {script: a}\n", ["error unknown-job -"]],
    ["a job without a script", "test:\n  variables: {}\n", ["error missing-script 1"]],
    ["an empty script", "test:\n  script: []\n", ["error missing-script 2"]],
    ["a misspelt keyword", "test:\n  script: a\n  befor_script: a\n", ["error unknown-key 3"]],
    ["a misspelt keyword at the top", "varables: {A: b}\ntest: {script: a}\n", ["error missing-script 1"]],
    ["a value at the top", "stagess: [a]\ntest: {script: a}\n", ["error invalid-job 1"]],
    ["a job that is a list", "test: [a]\n", ["error invalid-job 1"]],
    ["a command with a colon", "test:\n  script:\n    - echo a: b\n", ["error invalid-script 3"]],
    ["a command that is a boolean", "test:\n  script:\n    - true\n", ["error invalid-script 3"]],
    ["extends of nothing", "test:\n  extends: .a\n", ["error unknown-parent 2"]],
    ["trigger", "test:\n  trigger: a\n", ["error not-supported 2"]],
    ["include", "include: a.yml\ntest: {script: a}\n", ["error include-failed 1"]],
    ["an empty include", "include: []\ntest: {script: a}\n", []],
    ["reference in a script", "test:\n  script:\n    - !reference [.a, script]\n", ["error unresolved-reference 3"]],
    [
      "reference for variables",
      "test:\n  script: a\n  variables: !reference [.a, b]\n",
      ["error unresolved-reference 3"],
    ],
    [
      "reference for a value",
      "test:\n  script: a\n  variables:\n    A: !reference [.a, b]\n",
      ["error unresolved-reference 4"],
    ],
    [
      "inputs that are not declared",
      "test:\n  inputs: {a: {default: b}}\n  script: echo ${{ job.inputs.b }}\n",
      ["error unknown-pipeline-input 3"],
    ],
    ["an input of another type", "test:\n  inputs: {a: {default: 1}}\n  script: a\n", ["error wrong-type 2"]],
    [
      "an input that is none of its options",
      "test:\n  inputs: {a: {default: b, options: [c]}}\n  script: a\n",
      ["error invalid-value 2"],
    ],
    [
      "inputs of the file",
      "spec: {inputs: {a: }}\n---\ntest:\n  script: echo $[[ inputs.a ]]\n",
      ["error missing-pipeline-input 1"],
    ],
    ["a header without use", "spec: {inputs: {a: {default: b}}}\n---\ntest:\n  script: a\n", []],
    ["a header in the configuration", "spec: {}\ntest: {script: a}\n", ["error invalid-file 1"]],
    ["a third document", "test: {script: a}\n---\nb: {}\n", ["error invalid-file 3"]],
    ["no mapping", "- a\n", ["error invalid-file 1"]],
    ["nothing", "", ["error invalid-file 1"]],
    ["the same keyword twice", "default: {image: a}\nimage: b\ntest: {script: a}\n", ["error conflicting-keys 2"]],
    ["an unknown default", "default: {script: a}\ntest: {script: a}\n", ["error unknown-key 1"]],
    ["variables that are a list", "test:\n  script: a\n  variables: [A]\n", ["error invalid-variables 3"]],
    ["a variable that is a list", "test:\n  script: a\n  variables: {A: [b]}\n", ["error invalid-variables 3"]],
    [
      "a description in a job",
      "test:\n  script: a\n  variables: {A: {value: b, description: c}}\n",
      ["error unknown-key 3"],
    ],
    [
      "a value that is no option",
      "variables: {A: {value: b, options: [c]}}\ntest: {script: a}\n",
      ["error invalid-variables 1"],
    ],
    ["a name that shells cannot read", "test:\n  script: a\n  variables: {a-b: c}\n", ["error invalid-name 3"]],
    ["a date", "test:\n  script: a\n  variables: {A: 2026-01-01}\n", ["warning unquoted-date 3"]],
    ["a cycle", "test:\n  script: a\n  variables: {A: $A}\n", ["warning variable-cycle 3"]],
    ["stages and workflow", "stages: [a]\nworkflow: {}\ntest:\n  stage: a\n  script: a\n", []],
    ["a time that is none", "test:\n  script: a\n  timeout: soon\n", ["error invalid-value 3"]],
    [
      "a bad inherit",
      "test: {script: a, inherit: {defaults: true, variables: 1}}\n",
      ["error unknown-key 1", "error wrong-type 1"],
    ],
  ])("%s", (_, text, expected) => {
    const { job, diagnostics } = translate(text);
    expect(brief(diagnostics)).toEqual(expected);
    expect(job === undefined).toBe(expected.some((one) => one.startsWith("error")));
  });

  test("names the nearest job and the others", () => {
    const { diagnostics } = translate("tset: {script: a}\n.hidden: {}\nbuild: {script: a}\n");
    expect(diagnostics[0]).toMatchObject({
      message: 'Cannot find the job "test" in .gitlab-ci.yml',
      hint: 'Did you mean "tset"? Jobs: "tset", "build".',
    });
  });

  test("does not run a hidden job", () => {
    expect(brief(translate(".x: {script: a}\n", { jobName: ".x" }).diagnostics)).toEqual(["error hidden-job 1"]);
  });

  test("does not take a keyword for a job", () => {
    expect(brief(translate("default: {image: a}\n", { jobName: "default" }).diagnostics)).toEqual([
      "error unknown-job -",
    ]);
  });

  test("refuses an override that no shell could read", () => {
    const { diagnostics } = translate("test: {script: a}\n", { overrides: { "a b": "c" } });
    expect(brief(diagnostics)).toEqual(["error invalid-name -"]);
  });

  test("names the nearest keyword", () => {
    const { diagnostics } = translate("test:\n  script: a\n  artefacts: {}\n");
    expect(diagnostics[0]?.hint).toBe('Did you mean "artifacts"?');
  });

  test("shows no control characters of a name", () => {
    const { diagnostics } = translate('test:\n  script: a\n  "\\e[31mx": 1\n');
    expect(diagnostics[0]?.message).toBe('The job "test" has an unknown key: "\uFFFD[31mx"');
  });

  test("keeps a bounded number of them", () => {
    const keys = Array.from({ length: 5000 }, (_, i) => `  k${i}: 1\n`).join("");
    const { diagnostics } = translate(`test:\n  script: a\n${keys}`);
    expect(diagnostics).toHaveLength(101);
    expect(diagnostics.at(-1)).toMatchObject({
      severity: "error",
      code: "too-many-problems",
      message: 'More problems of severity "error" are not shown',
    });
  });
});
