import { encodeSpecDefinition } from "@steps/model/baseline";
import { describe, expect, test } from "vitest";
import { brief, expandedEnv, onlyStep, run, type ScriptStep, stepsOf, translate, translated } from "./fixtures.ts";

describe("a script job", () => {
  test("is one script step with the variables as its environment", () => {
    const job = translated("variables: {A: 1}\ntest:\n  script: echo\n", { predefined: { CI: "true" }, shell: "sh" });
    const json = encodeSpecDefinition(job.specDefinition);
    expect(json.definition?.steps).toEqual([
      {
        name: "step_script",
        step: { protocol: "dist", paths: { parts: ["gitlab", "script"] } },
        env: { CI: '${{ vars["CI"] }}', A: '${{ vars["A"] }}' },
        inputs: { script: ["echo"], shell: "sh" },
      },
    ]);
    expect({ ...job.variables }).toEqual({ CI: "true", A: "1" });
  });

  test("has no value of a variable in its definition, whatever the names", () => {
    const text = "variables: {TOKEN: tok-12345678, if: tok-2, null: tok-3, __proto__: tok-4}\ntest: {script: echo}\n";
    const job = translated(text, { predefined: { 'a"b\\c': "tok-5" }, overrides: { GIVEN: "tok-6-${{ x }}" } });
    expect(JSON.stringify(job.specDefinition)).not.toContain("tok-");
    expect(onlyStep(job).env).toMatchObject({ if: '${{ vars["if"] }}', 'a"b\\c': '${{ vars["a\\"b\\\\c"] }}' });
    expect(expandedEnv(job, onlyStep(job))).toEqual(job.variables);
    expect(Object.keys(job.variables)).toContain("__proto__");
  });

  test("runs before_script, script and after_script", () => {
    const text =
      "test:\n  before_script: [X=1]\n  script: ['echo $X', [[echo nested]]]\n  after_script: ['echo after-$X']\n";
    expect(run(text)).toBe("1\nnested\nafter-\n");
  });

  test("takes what it lacks from default and from the top of the file", () => {
    const text = "default: {before_script: [echo default]}\nafter_script: [echo top]\ntest: {script: echo own}\n";
    expect(run(text)).toBe("default\nown\ntop\n");
    const off = text.replace("echo own}", "echo own, before_script: [], after_script: []}");
    expect(run(off)).toBe("own\n");
  });

  test("inherits only what it says", () => {
    const text =
      "default: {before_script: [echo b], after_script: [echo a]}\nvariables: {A: 1, B: 2}\n" +
      "test: {script: 'echo [$A$B]', inherit: {default: [after_script], variables: [B]}}\n";
    expect(run(text)).toBe("[2]\na\n");
  });

  test("lets expressions reach the shell as they are written", () => {
    const text =
      "test:\n  variables: {S: 'x ${{ env.name }} y'}\n  script:\n    - echo '${{ a }}' '\\${{ b }}' \"$S\"\n";
    expect(run(text)).toBe("${{ a }} \\${{ b }} x ${{ env.name }} y\n");
  });

  test("lets the job's variables win over the file's, and the user's over both", () => {
    const text =
      "variables: {A: g, B: g, C: g, D: $A$B$C}\ntest: {variables: {B: j, C: j}, script: 'echo $A$B$C $D'}\n";
    expect(run(text, { overrides: { C: "u" }, predefined: { A: "p" } })).toBe("gju gju\n");
  });

  test("takes predefined variables as they are, and lets others refer to them", () => {
    const text = "test: {variables: {A: '<$CI_X>'}, script: 'echo \"$A\"'}\n";
    expect(run(text, { predefined: { CI_X: "$HOME" } })).toBe("<$HOME>\n");
  });

  test("makes the text of a value that GitLab makes of it", () => {
    const text =
      "variables:\n  A: 010\n  B: yes\n  C: 1.10\n  D:\n  E: {value: $A, expand: false, description: x}\n  F: {description: form}\n" +
      "test: {script: 'echo \"$A $B $C <$D> $E ${F-unset}\"'}\n";
    expect(run(text)).toBe("8 true 1.1 <> $A unset\n");
  });

  test("understands anchors and merge keys", () => {
    const text =
      ".base: &base\n  variables: &vars {A: base, B: base}\n  script: &script [echo $A $B]\n" +
      "test:\n  <<: *base\n  variables: {<<: *vars, B: own}\n  after_script: *script\n";
    expect(run(text)).toBe("base own\nbase own\n");
  });

  test("is put together from what it includes, extends and refers to", () => {
    const text =
      "include: a.yml\n.own: {before_script: [echo before]}\n" +
      "test: {extends: [.base, .own], script: [!reference [.more, script], 'echo $A']}\n";
    const other = ".base: {variables: {A: included}}\n.more: {script: [echo more]}\n";
    const loading = { loadFile: () => ({ source: { name: "a.yml", text: other } }) };
    expect(run(text, { loading })).toBe("before\nmore\nincluded\n");
  });

  test("has the variables of its instance", () => {
    const text =
      "test: {script: 'echo $CI_NODE_INDEX/$CI_NODE_TOTAL $A $B', variables: {A: own, B: $A}, parallel: {matrix: [{A: [x, y]}]}}\n";
    expect(run(text, { jobName: "test: [y]" })).toBe("2/2 y y\n");
    expect(translated(text, { jobName: "test: [y]" }).diagnostics).toEqual([]);
    expect(run(text)).toBe("/ own own\n");
    const number = "test: {script: 'echo $CI_NODE_INDEX/$CI_NODE_TOTAL', parallel: 3}\n";
    expect(run(number, { jobName: "test 3/3" })).toBe("3/3\n");
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
    const [script, upload] = stepsOf(job);
    expect(script?.env["STEPS"]).toBe('${{ vars["STEPS"] }}');
    expect(script?.commands).toEqual(["/step-runner ci"]);
    expect(upload?.name).toBe("upload_artifacts");
    expect(job.diagnostics).toEqual([]);
  });

  test("has after_script as a step of its own, with five minutes, whose failure counts where a variable says so", () => {
    const text = "test: {script: a, after_script: [b], variables: {AFTER_SCRIPT_IGNORE_ERRORS: VALUE}}\n";
    const after = (value: string): ScriptStep | undefined => stepsOf(translated(text.replace("VALUE", value)))[1];
    expect(after("true")).toMatchObject({
      name: "after_script",
      control: { condition: "${{ always() && !timed_out() }}", continueOnError: true, timeoutMs: 300_000 },
    });
    expect(after("false")?.control).toEqual({ condition: "${{ always() && !timed_out() }}", timeoutMs: 300_000 });
  });

  test.each([
    ["RUNNER_SCRIPT_TIMEOUT: 1m30s", [90_000, 300_000]],
    ["RUNNER_AFTER_SCRIPT_TIMEOUT: 2h", [undefined, 7_200_000]],
    ["RUNNER_AFTER_SCRIPT_TIMEOUT: -1s, RUNNER_SCRIPT_TIMEOUT: soon", [undefined, 300_000]],
  ])("has the times that %s gives", (variables, times) => {
    const job = translated(`test: {script: a, after_script: [b], variables: {${variables}}}\n`);
    expect(stepsOf(job).map(({ control }) => control?.timeoutMs)).toEqual(times);
  });

  test("runs the hook before the project is there, and after_script only if its own script has begun", () => {
    const text = "test:\n  hooks: {pre_get_sources_script: [a]}\n  script: b\n  after_script: [c]\n";
    const steps = stepsOf(translated(text));
    expect(steps.map(({ name }) => name)).toEqual(["pre_get_sources_script", "step_script", "after_script"]);
    expect(steps[2]?.control?.condition).toBe('${{ always() && !timed_out() && has(steps, "step_script") }}');
    expect(stepsOf(translated(`${text}  variables: {GIT_STRATEGY: none}\n`)).map(({ name }) => name)).toEqual([
      "step_script",
      "after_script",
    ]);
  });

  test("has its inputs, which only their own expressions name", () => {
    const text =
      "test:\n  inputs: {who: {default: you, options: [you, me]}, n: {type: number, default: 2}}\n" +
      "  script: ['echo ${{ job.inputs.who }} ${{ other }}']\n";
    const job = translated(text);
    expect(job.specDefinition.spec.inputs).toEqual({
      who: { type: "string", default: "you", isSensitive: false, options: ["you", "me"] },
      n: { type: "number", default: 2, isSensitive: false },
    });
    expect(onlyStep(job).commands).toEqual(["echo ${{ job.inputs.who }} \\${{ other }}"]);
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

describe("a job with keywords that have no effect here", () => {
  test("names them, own and inherited, and gives no warning", () => {
    const text =
      "default: {tags: [a]}\nstages: [b]\ntest: {stage: b, script: a, environment: c, interruptible: true}\n";
    expect(translated(text)).toMatchObject({ ignored: ["environment", "tags"], diagnostics: [] });
    expect(translated(text.replace("script: a", "script: a, inherit: {default: false}")).ignored).toEqual([
      "environment",
    ]);
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

  test("is one step among others where it inherits an after_script, and takes no other script", () => {
    const job = translated(`${text}default: {before_script: [a], after_script: [b]}\n`);
    expect(stepsOf(job).map(({ name }) => name)).toEqual(["run", "after_script"]);
    const own = "/definition/steps/0/step/specDef/definition/steps/0/inputs/script";
    expect([own, "/definition/steps/0", "/definition/steps/1"].map((at) => job.positionOf(at)?.line)).toEqual([
      5, 4, 7,
    ]);
    expect(job.diagnostics).toEqual([]);
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
