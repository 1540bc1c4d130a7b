import { type Diagnostic, formatDiagnostic } from "@steps/model/diagnostic";
import { describe, expect, test } from "vitest";
import { compileAction } from "./compile-action.ts";
import type { CompiledAction } from "./manifest.ts";

function compile(text: string): CompiledAction {
  return compileAction({ name: "action.yml", text });
}

function brief(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ severity, code, position }) => `${severity} ${code} ${position?.line ?? "-"}`);
}

function compiled(text: string): NonNullable<CompiledAction["specDefinition"]> {
  const { specDefinition, diagnostics } = compile(text);
  if (specDefinition === undefined) throw new Error(diagnostics.map(formatDiagnostic).join("\n"));
  return specDefinition;
}

/** A manifest with the given keys of `runs`, one a line. */
function runs(...keys: string[]): string {
  return `runs:\n${keys.map((key) => `  ${key}\n`).join("")}`;
}

/** A composite action of one step with the given keys, one a line. */
function step(...keys: string[]): string {
  return `${runs("using: composite", "steps:")}${keys.map((key, i) => `    ${i === 0 ? "-" : " "} ${key}\n`).join("")}`;
}

describe("composite actions", () => {
  test("compiles steps of both kinds and leaves every text as it is", () => {
    const { definition } = compiled(`
runs:
  using: composite
  steps:
    - name: Say \${{ inputs.who }}
      id: say
      if: inputs.who != ''
      run: |
        echo "\${{ inputs.who }}"
      shell: bash
      working-directory: \${{ inputs.dir }}
      env: { WHO: "\${{ inputs.who }}", N: 1 }
      continue-on-error: \${{ inputs.soft == 'true' }}
    - uses: actions/cache/save@v4
      with: { path: a, key: "\${{ runner.os }}", fail: false, n: 1.10 }
`);
    expect(definition).toMatchObject({ type: "steps", env: {}, outputs: {}, github: { using: "composite" } });
    expect(definition.type === "steps" && definition.steps).toEqual([
      {
        name: "say",
        inputs: {},
        env: { WHO: "${{ inputs.who }}", N: "1" },
        github: {
          title: "Say ${{ inputs.who }}",
          if: "inputs.who != ''",
          continueOnError: "${{ inputs.soft == 'true' }}",
        },
        step: {
          kind: "inline",
          seesCallerInputs: true,
          specDefinition: {
            spec: { inputs: {}, outputs: {}, hasOpenOutputs: true },
            definition: {
              type: "exec",
              command: ["bash"],
              workDir: "${{ inputs.dir }}",
              env: {},
              github: { using: "run", script: 'echo "${{ inputs.who }}"\n' },
            },
          },
        },
      },
      {
        name: "",
        inputs: { path: "a", key: "${{ runner.os }}", fail: "false", n: "1.1" },
        env: {},
        github: {},
        step: {
          kind: "action",
          source: "repository",
          url: "https://github.com/actions/cache",
          repository: "actions/cache",
          version: "v4",
          dir: "save",
        },
      },
    ]);
  });

  test.each([
    ["./dir", { source: "workspace", dir: "dir" }],
    [".\\dir", { source: "workspace", dir: "dir" }],
    ["$/dir", { source: "self", dir: "dir" }],
    ["docker://alpine:3", { source: "image", image: "alpine:3" }],
    ["https://git.example/a/b@v1", { source: "repository", url: "https://git.example/a/b", version: "v1" }],
  ])("names the action of %s", (uses, expected) => {
    const { definition } = compiled(step(`uses: ${uses}`));
    expect(definition.type === "steps" && definition.steps[0]?.step).toMatchObject(expected);
  });

  test.each([
    [["run: x"], ["error missing-key 4"]],
    [["run: x", "shell: ''"], ["error missing-key 5"]],
    [["run: x", "shell:"], ["error missing-key 5"]],
    [["run: x", "shell: zsh"], ["warning invalid-value 5"]],
    [["run: x", "shell: cp {0} action.yml"], []],
    [["run: x", "shell: mv {0} Dockerfile"], []],
    [["run: x", "shell: perl {0}"], []],
    [["run: x", "shell: '${{ inputs.shell }}'"], []],
    [["run: ''", "shell: sh"], ["warning empty-script 4"]],
    [["run: [x]", "shell: sh"], ["error wrong-type 4"]],
    [["run: x", "shell: sh", "uses: a/b@v1"], ["error conflicting-keys 6"]],
    [["run: x", "shell: sh", "with: {}"], ["error conflicting-keys 6"]],
    [["uses: a/b@v1", "shell: sh"], ["error conflicting-keys 5"]],
    [["uses: a/b@v1", "working-directory: x"], ["error conflicting-keys 5"]],
    [["name: x"], ["error missing-key 4"]],
    [["rnu: x", "shell: sh"], ["error missing-key 4"]],
    [["- a"], ["error wrong-type 4"]],
    [["run: x", "shell: sh", "timeout-minutes: 5"], ["error unknown-key 6"]],
    [["run: x", "shell: sh", "secrets: {}"], ["error unknown-key 6"]],
    [["run: x", "shell: sh", "evn: {}"], ["error unknown-key 6"]],
    [["run: x", "shell: sh", "background: true"], ["error not-supported 6"]],
    [["wait-all: true"], ["error not-supported 4"]],
    [["run: x", "shell: sh", "id: 1a"], ["error invalid-name 6"]],
    [["run: x", "shell: sh", "id: __a"], ["error invalid-name 6"]],
    [["run: x", "shell: sh", "id: a.b"], ["error invalid-name 6"]],
    [["run: x", "shell: sh", `id: ${"a".repeat(100)}`], ["error invalid-name 6"]],
    [["run: x", "shell: sh", `id: ${"a".repeat(99)}`], []],
    [["run: x", "shell: sh", "id: _a-B9"], []],
    [["run: x", "shell: sh", "id: ${{ 1 }}"], ["error expression-not-allowed 6"]],
    [["run: x", "shell: sh", "id:"], ["error missing-key 6"]],
    [["run: x", "shell: sh", "if:"], ["warning empty-condition 6"]],
    [["run: x", "shell: sh", "if: false"], []],
    [["run: x", "shell: sh", "if: ${{ always() }}"], []],
    [["run: x", "shell: sh", "if: true ${{ false }}"], ["warning constant-condition 6"]],
    [["run: x", "shell: sh", "if: |\n        ${{ false }}"], ["warning constant-condition 7"]],
    [["run: x", "shell: sh", "if: |\n        false"], []],
    [["run: x", "shell: sh", "if: '!cancelled()'"], []],
    [["run: x", "shell: sh", "if: secrets.X != ''"], ["warning unavailable-context 6"]],
    [["run: x", "shell: sh", "if: a b"], ["error invalid-expression 6"]],
    [["run: x", "shell: sh", "if: case(true, 1, 2)"], []],
    [
      ["run: echo ${{ vars.X }} ${{ needs.X }}", "shell: sh"],
      ["warning unavailable-context 4", "warning unavailable-context 4"],
    ],
    [["run: echo ${{ always() }}", "shell: sh"], ["error invalid-expression 4"]],
    [["run: echo ${{ hashFiles('a') }} ${{ matrix.x }}", "shell: sh"], []],
    [["run: x", "shell: sh", "continue-on-error: yes"], ["error invalid-value 6"]],
    [["run: x", "shell: sh", "continue-on-error: ''"], ["error invalid-value 6"]],
    [["run: x", "shell: sh", "continue-on-error: True"], []],
    [["run: x", "shell: sh", "env:"], ["warning wrong-type 6"]],
    [["run: x", "shell: sh", "env: ${{ fromJSON('{}') }}"], ["error not-supported 6"]],
    [["run: x", "shell: sh", "env: { '${{ insert }}': '${{ github }}' }"], ["error not-supported 6"]],
    [["run: x", "shell: sh", "env: { A: [1] }"], ["error wrong-type 6"]],
    [["uses: a/b"], ["error invalid-reference 4"]],
    [["uses: a/b@1a2b3c4"], ["error invalid-reference 4"]],
    [["uses: ../x"], ["error invalid-reference 4"]],
    [["uses: ${{ inputs.x }}@v1"], ["error expression-not-allowed 4"]],
    [["uses:"], ["error missing-key 4"]],
    [["uses: a/b@v1", "with: [x]"], ["error wrong-type 5"]],
    [["uses: a/b@v1", "with: { a: 1, A: 2 }"], ["error duplicate-key 5"]],
  ])("says of the step %j what is wrong with it", (lines, expected) => {
    expect(brief(compile(step(...lines)).diagnostics)).toEqual(expected);
  });

  test("takes ids that are distinct whatever their case", () => {
    const two = (a: string, b: string): string =>
      runs("using: composite", "steps:", `  - {run: x, shell: sh, id: ${a}}`, `  - {run: x, shell: sh, id: ${b}}`);
    expect(brief(compile(two("a", "b")).diagnostics)).toEqual([]);
    expect(brief(compile(two("a", "A")).diagnostics)).toEqual(["error duplicate-name 5"]);
  });

  test.each([
    [runs("using: composite"), ["error missing-key 2"]],
    [runs("using: composite", "steps:"), ["error wrong-type 3"]],
    [runs("using: composite", "steps: {}"), ["error wrong-type 3"]],
    [runs("using: composite", "steps: []"), ["warning empty-run 3"]],
    [runs("using: composite", "steps: []", "pre: a.js"), ["warning empty-run 3", "error key-of-other-kind 4"]],
  ])("says of %j what is wrong with it", (text, expected) => {
    expect(brief(compile(text).diagnostics)).toEqual(expected);
  });
});
