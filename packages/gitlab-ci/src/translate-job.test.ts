import { spawnSync } from "node:child_process";
import { mapObject } from "@steps/model";
import { encodeSpecDefinition } from "@steps/model/baseline";
import type { Diagnostic } from "@steps/model/diagnostic";
import { describe, expect, test } from "vitest";
import { loadPipelineNow, type LoadPipelineOptions, sortDiagnostics } from "./load/load-pipeline.ts";
import {
  type TranslatedJob,
  translateJob,
  type TranslateJobOptions,
  type TranslateJobResult,
} from "./translate-job.ts";

type Options = Partial<TranslateJobOptions> & { readonly loading?: LoadPipelineOptions };

function source(text: string): { name: string; text: string } {
  return { name: ".gitlab-ci.yml", text };
}

function translate(text: string, { loading, ...options }: Options = {}): TranslateJobResult {
  const { pipeline, sources, diagnostics } = loadPipelineNow(source(text), loading);
  if (pipeline === undefined) return { job: undefined, diagnostics };
  const translated = translateJob(pipeline, { jobName: "test", ...options });
  return { ...translated, diagnostics: sortDiagnostics([...diagnostics, ...translated.diagnostics], sources) };
}

function brief(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ severity, code, position }) => `${severity} ${code} ${position?.line ?? "-"}`);
}

function translated(text: string, options: Options = {}): TranslatedJob {
  const { job, diagnostics } = translate(text, options);
  if (job === undefined) throw new Error(`Not translated: ${diagnostics.map((one) => one.message).join("; ")}`);
  return job;
}

interface OnlyStep {
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

function onlyStep(job: TranslatedJob): OnlyStep {
  const { definition } = job.specDefinition;
  if (definition.type !== "steps") throw new Error("Not a list of steps");
  const script = definition.steps[0]?.inputs["script"];
  if (typeof script !== "string") throw new Error("Not a script");
  return { script, env: definition.steps[0]?.env ?? {} };
}

/** Gives the script and environment that a runner passes to the shell: each variable of the step refers to one of the job. */
function expanded(job: TranslatedJob): OnlyStep {
  const { script, env } = onlyStep(job);
  const read = (template: string): string => {
    const name = /^\$\{\{ vars\[(".*")\] \}\}$/.exec(template)?.[1];
    if (name === undefined) throw new Error(`Not a variable: ${template}`);
    return job.variables[JSON.parse(name) as string] as string;
  };
  return { script: script.replaceAll(String.raw`\${{`, () => "${{"), env: mapObject(env, read) };
}

/** Runs the job's script and gives its output without the lines that show the commands. */
function run(text: string, options: Options = {}): { code: number | null; output: string } {
  const { script, env } = expanded(translated(text, options));
  const { status, stdout } = spawnSync("bash", ["-c", script], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], ...env },
  });
  return { code: status, output: stdout.replaceAll(/^\$ .*\n/gm, "") };
}

describe("a script job", () => {
  test("is one script step with the variables as its environment", () => {
    const job = translated("variables: {A: 1}\ntest:\n  script: echo\n", { predefined: { CI: "true" }, shell: "sh" });
    const json = encodeSpecDefinition(job.specDefinition);
    expect(json.definition?.steps).toEqual([
      {
        name: "script",
        step: { protocol: "dist", paths: { parts: ["script"] } },
        env: { CI: '${{ vars["CI"] }}', A: '${{ vars["A"] }}' },
        inputs: { script: onlyStep(job).script, shell: "sh" },
      },
    ]);
    expect({ ...job.variables }).toEqual({ CI: "true", A: "1" });
  });

  test("has no value of a variable in its definition, whatever the names", () => {
    const text = "variables: {TOKEN: tok-12345678, if: tok-2, null: tok-3, __proto__: tok-4}\ntest: {script: echo}\n";
    const job = translated(text, { predefined: { 'a"b\\c': "tok-5" }, overrides: { GIVEN: "tok-6-${{ x }}" } });
    expect(JSON.stringify(job.specDefinition)).not.toContain("tok-");
    expect(onlyStep(job).env).toMatchObject({ if: '${{ vars["if"] }}', 'a"b\\c': '${{ vars["a\\"b\\\\c"] }}' });
    expect(expanded(job).env).toEqual(job.variables);
    expect(Object.keys(job.variables)).toContain("__proto__");
  });

  test("runs before_script, script and after_script", () => {
    const text =
      "test:\n  before_script: [X=1]\n  script: ['echo $X', [[echo nested]]]\n  after_script: ['echo after-$X']\n";
    expect(run(text)).toEqual({ code: 0, output: "1\nnested\nafter-\n" });
  });

  test("takes what it lacks from default and from the top of the file", () => {
    const text = "default: {before_script: [echo default]}\nafter_script: [echo top]\ntest: {script: echo own}\n";
    expect(run(text).output).toBe("default\nown\ntop\n");
    const off = text.replace("echo own}", "echo own, before_script: [], after_script: []}");
    expect(run(off).output).toBe("own\n");
  });

  test("inherits only what it says", () => {
    const text =
      "default: {before_script: [echo b], after_script: [echo a]}\nvariables: {A: 1, B: 2}\n" +
      "test: {script: 'echo [$A$B]', inherit: {default: [after_script], variables: [B]}}\n";
    expect(run(text).output).toBe("[2]\na\n");
  });

  test("lets expressions reach the shell as they are written", () => {
    const text =
      "test:\n  variables: {S: 'x ${{ env.name }} y'}\n  script:\n    - echo '${{ a }}' '\\${{ b }}' \"$S\"\n";
    expect(run(text).output).toBe("${{ a }} \\${{ b }} x ${{ env.name }} y\n");
  });

  test("lets the job's variables win over the file's, and the user's over both", () => {
    const text =
      "variables: {A: g, B: g, C: g, D: $A$B$C}\ntest: {variables: {B: j, C: j}, script: 'echo $A$B$C $D'}\n";
    expect(run(text, { overrides: { C: "u" }, predefined: { A: "p" } }).output).toBe("gju gju\n");
  });

  test("takes predefined variables as they are, and lets others refer to them", () => {
    const text = "test: {variables: {A: '<$CI_X>'}, script: 'echo \"$A\"'}\n";
    expect(run(text, { predefined: { CI_X: "$HOME" } }).output).toBe("<$HOME>\n");
  });

  test("makes the text of a value that GitLab makes of it", () => {
    const text =
      "variables:\n  A: 010\n  B: yes\n  C: 1.10\n  D:\n  E: {value: $A, expand: false, description: x}\n  F: {description: form}\n" +
      "test: {script: 'echo \"$A $B $C <$D> $E ${F-unset}\"'}\n";
    expect(run(text).output).toBe("8 true 1.1 <> $A unset\n");
  });

  test("understands anchors and merge keys", () => {
    const text =
      ".base: &base\n  variables: &vars {A: base, B: base}\n  script: &script [echo $A $B]\n" +
      "test:\n  <<: *base\n  variables: {<<: *vars, B: own}\n  after_script: *script\n";
    expect(run(text).output).toBe("base own\nbase own\n");
  });

  test("is put together from what it includes, extends and refers to", () => {
    const text =
      "include: a.yml\n.own: {before_script: [echo before]}\n" +
      "test: {extends: [.base, .own], script: [!reference [.more, script], 'echo $A']}\n";
    const other = ".base: {variables: {A: included}}\n.more: {script: [echo more]}\n";
    const loading = { loadFile: () => ({ source: { name: "a.yml", text: other } }) };
    expect(run(text, { loading }).output).toBe("before\nmore\nincluded\n");
  });

  test("has the variables of its instance", () => {
    const text =
      "test: {script: 'echo $CI_NODE_INDEX/$CI_NODE_TOTAL $A $B', variables: {A: own, B: $A}, parallel: {matrix: [{A: [x, y]}]}}\n";
    expect(run(text, { jobName: "test: [y]" }).output).toBe("2/2 y y\n");
    expect(translated(text, { jobName: "test: [y]" }).diagnostics).toEqual([]);
    expect(run(text).output).toBe("/ own own\n");
    expect(brief(translated(text).diagnostics)).toEqual(["warning keyword-not-honoured 1"]);
    const number = "test: {script: 'echo $CI_NODE_INDEX/$CI_NODE_TOTAL', parallel: 3}\n";
    expect(run(number, { jobName: "test 3/3" }).output).toBe("3/3\n");
  });

  test("runs the seed's example", () => {
    const text = `hello-world:
  image: registry.gitlab.com/gitlab-org/step-runner
  variables:
    STEPS: |
      - step: gitlab.com/josephburnett/component-hello-steppy@master
        inputs:
          greeting: "hello \${{ env.name }}"
        env:
          name: world
  script:
    - /step-runner ci
  artifacts:
    paths:
      - trace.json
`;
    const job = translated(text, { jobName: "hello-world" });
    expect(job.variables["STEPS"]).toContain('greeting: "hello ${{ env.name }}"');
    expect(onlyStep(job).env["STEPS"]).toBe('${{ vars["STEPS"] }}');
    expect(onlyStep(job).script).toContain("/step-runner ci");
    expect(brief(job.diagnostics)).toEqual(["warning keyword-not-honoured 2", "warning keyword-not-honoured 12"]);
  });

  test("lets after_script fail the job where the variable of the runner says so", () => {
    const text = "test: {script: 'true', after_script: ['exit 3'], variables: {AFTER_SCRIPT_IGNORE_ERRORS: VALUE}}\n";
    expect(run(text.replace("VALUE", "false")).code).toBe(3);
    expect(run(text.replace("VALUE", "true")).code).toBe(0);
  });

  test("knows where its parts stand", () => {
    const job = translated("variables:\n  G: 1\ntest:\n  variables:\n    A: b\n  script:\n    - echo\n");
    const line = (pointer: string): number | undefined => job.positionOf(pointer)?.line;
    expect(line("/definition/steps/0/inputs/script")).toBe(7);
    expect(line("/definition/steps/0/env/A")).toBe(5);
    expect(line("/definition/steps/0/env/G")).toBe(2);
    expect(line("/definition/steps/0/env/CI")).toBe(4);
    expect(line("/definition")).toBe(3);
    expect(line("")).toBe(3);
  });
});

describe("a run job", () => {
  const text =
    "variables: {WHO: $X, X: you}\ntest:\n  run:\n    - name: greet\n      script: echo\n      env: {WHO: '${{ vars.WHO }}'}\n";

  test("is its list of steps, with variables that are no environment", () => {
    const job = translated(text);
    const { definition } = job.specDefinition;
    expect(definition).toMatchObject({ type: "steps", steps: [{ name: "greet", env: { WHO: "${{ vars.WHO }}" } }] });
    expect({ ...job.variables }).toEqual({ WHO: "you", X: "you" });
    expect(job.positionOf("/definition/steps/0/inputs/script")?.line).toBe(5);
  });

  test.each(["script: a", "before_script: [a]", "after_script: [a]", "variables: {STEPS: a}"])(
    "refuses %j",
    (other) => {
      expect(brief(translate(`${text}  ${other}\n`).diagnostics)).toEqual(["error conflicting-keys 7"]);
    },
  );

  test("says that inherited scripts have no effect", () => {
    expect(brief(translated(`${text}default: {before_script: [a]}\n`).diagnostics)).toEqual([
      "warning keyword-not-honoured 7",
    ]);
  });

  test("reports what is wrong with its steps", () => {
    const { job, diagnostics } = translate("test:\n  run:\n    - scrpt: x\n");
    expect(job).toBeUndefined();
    expect(diagnostics[0]?.position?.line).toBe(3);
  });

  test("refuses references to nothing in its steps", () => {
    expect(brief(translate("test:\n  run:\n    - !reference [.a, b]\n").diagnostics)).toEqual([
      "error unresolved-reference 3",
    ]);
  });
});

describe("diagnostics", () => {
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
      "inputs that scripts use",
      "test:\n  inputs: {a: {default: b}}\n  script: echo ${{ job.inputs.a }}\n",
      ["warning keyword-not-honoured 2", "error not-supported 2"],
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
    [
      "stages and workflow",
      "stages: [a]\nworkflow: {}\ntest:\n  stage: a\n  script: a\n",
      ["warning keyword-not-honoured 1", "warning keyword-not-honoured 4"],
    ],
    [
      "an inherited keyword once",
      "default: {image: a}\ntest: {script: a, services: [b]}\n",
      ["warning keyword-not-honoured 1", "warning keyword-not-honoured 2"],
    ],
    ["a keyword that is not inherited", "default: {image: a}\ntest: {script: a, inherit: {default: false}}\n", []],
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
