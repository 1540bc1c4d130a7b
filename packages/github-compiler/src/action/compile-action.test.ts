import { decodeSpecDefinition, encodeSpecDefinition } from "@steps/model/baseline";
import { type Diagnostic, formatDiagnostic } from "@steps/model/diagnostic";
import { describe, expect, test } from "vitest";
import { compileAction } from "./compile-action.ts";
import type { CompiledAction, CompileActionOptions } from "./manifest.ts";

function compile(text: string, options?: CompileActionOptions): CompiledAction {
  return compileAction({ name: "action.yml", text }, options);
}

function brief(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ severity, code, position }) => `${severity} ${code} ${position?.line ?? "-"}`);
}

function compiled(text: string): NonNullable<CompiledAction["specDefinition"]> {
  const { specDefinition, diagnostics } = compile(text);
  if (specDefinition === undefined) throw new Error(diagnostics.map(formatDiagnostic).join("\n"));
  return specDefinition;
}

const NODE = "runs: { using: node20, main: dist/index.js }\n";

/** A manifest with the given keys of `runs`, one a line. */
function runs(...keys: string[]): string {
  return `runs:\n${keys.map((key) => `  ${key}\n`).join("")}`;
}

/** A composite action of one step with the given keys, one a line. */
function step(...keys: string[]): string {
  return `${runs("using: composite", "steps:")}${keys.map((key, i) => `    ${i === 0 ? "-" : " "} ${key}\n`).join("")}`;
}

describe("inputs", () => {
  test.each([
    ["default: text", "text"],
    ["default: true", "true"],
    ["default: TRUE", "true"],
    ["default: no", "no"],
    ["default: 3", "3"],
    ["default: 1.10", "1.1"],
    ["default: '1.10'", "1.10"],
    ["default: 0x10", "16"],
    ["default: 0755", "755"],
    ["default: 1e3", "1000"],
    ["default: 12345678901234567890", "1.23456789012346E+19"],
    ["default: ", ""],
    ["default: ~", ""],
    ["default: '~'", "~"],
    ["default: ''", ""],
    ["Default: x", "x"],
    ["DEFAULT: x", "x"],
    ["default: ${{ github.token }}", "${{ github.token }}"],
    ["default: a ${{ runner.os }} b", "a ${{ runner.os }} b"],
    ["description: none", undefined],
    ["default: |\n      a\n      b\n", "a\nb\n"],
  ])("reads %j as the runner does", (line, expected) => {
    const { spec } = compiled(`inputs:\n  who:\n    ${line}\n${NODE}`);
    expect(spec.inputs["who"]).toMatchObject({ type: "string", isSensitive: false });
    expect(spec.inputs["who"]?.default).toBe(expected);
  });

  test("keeps names, descriptions, and who is required or deprecated", () => {
    const { spec, definition } = compiled(`
inputs:
  Fetch-Depth: { description: How much, required: true, default: 1 }
  with blank: { required: "TRUE" }
  old: { deprecationMessage: Use new., DeprecationMessage2: x }
  odd: { required: [no], description: {a: b}, type: boolean, options: [1] }
  __proto__: { default: x }
${NODE}`);
    expect(Object.keys(spec.inputs)).toEqual(["Fetch-Depth", "with blank", "old", "odd", "__proto__"]);
    expect(spec.inputs["Fetch-Depth"]?.description).toBe("How much");
    expect(definition.github?.requiredInputs).toEqual(["Fetch-Depth", "with blank"]);
    expect(definition.github?.deprecatedInputs).toEqual({ old: "Use new." });
  });

  test.each([
    ["inputs: {}", []],
    ["inputs:", ["warning wrong-type 1"]],
    ["inputs: { a: }", ["warning wrong-type 1"]],
    ["inputs: [a]", ["error wrong-type 1"]],
    ["inputs: { a: text }", ["error wrong-type 1"]],
    ["inputs: { a: {}, A: {} }", ["error duplicate-key 1"]],
    ["inputs: { a: {}, a: {} }", ["error duplicate-key 1"]],
    ["inputs: { a: { default: [1] } }", ["error wrong-type 1"]],
    ["inputs: { a: { default: '${{ inputs.b }}' } }", ["warning unavailable-context 1"]],
    ["inputs: { a: { default: '${{ secrets.B }}' } }", ["warning unavailable-context 1"]],
    ["inputs: { a: { default: '${{ githb.ref }}' } }", ["error invalid-expression 1"]],
    ["inputs: { a: { default: '${{ 1 + 2 }}' } }", ["error invalid-expression 1"]],
    ["inputs: { a: { default: '${{ github.ref' } }", ["error invalid-expression 1"]],
    ["inputs: { a: { default: '${{ success() }}' } }", ["error invalid-expression 1"]],
    ["inputs: { a: { default: \"${{ hashFiles('*') }}\" } }", []],
    ["inputs: { a: { description: '${{ github.token }}' } }", ["warning expression-in-text 1"]],
    ['inputs: { a: { default: "a\\0b" } }', ["error invalid-character 1"]],
    ["inputs: { '${{ insert }}': {} }", ["error not-supported 1"]],
  ])("says of %j what is wrong with it", (line, expected) => {
    expect(brief(compile(`${line}\n${NODE}`).diagnostics)).toEqual(expected);
  });
});

describe("outputs", () => {
  test("declares those of programs, which may leave them out and set others", () => {
    const { spec } = compiled(`outputs: { a: { description: An a }, b-c: {} }\n${NODE}`);
    expect(spec).toMatchObject({ hasOpenOutputs: true });
    expect(spec.outputs).toEqual({
      a: { type: "string", default: "", isSensitive: false, description: "An a" },
      "b-c": { type: "string", default: "", isSensitive: false },
    });
  });

  test("takes the values of a composite action, and says which has none", () => {
    const text = `outputs: { a: { value: "\${{ steps.s.outputs.x }}" }, b: {}, c: { value: 5 } }\n${step("run: x", "shell: sh")}`;
    const { specDefinition, diagnostics } = compile(text);
    expect(specDefinition?.definition).toMatchObject({ outputs: { a: "${{ steps.s.outputs.x }}", b: "", c: "5" } });
    expect(brief(diagnostics)).toEqual(["warning missing-key 1"]);
  });

  test.each([
    ["outputs: { a: { valeu: x } }", ["warning unknown-key 1"]],
    ["outputs: { a: { value: '${{ secrets.X }}' } }", ["warning unavailable-context 1"]],
    ["outputs: { a: { value: '${{ nope }}' } }", ["error invalid-expression 1"]],
    ["outputs: { a: 5 }", ["error wrong-type 1"]],
  ])("says of %j what is wrong with it", (line, expected) => {
    expect(brief(compile(`${line}\n${NODE}`).diagnostics)).toEqual(expected);
  });
});

describe("JavaScript actions", () => {
  test.each(["node12", "node16", "node20", "node24"])("runs %s", (using) => {
    const { definition } = compiled(runs(`using: ${using}`, "main: dist/index.js"));
    expect(definition).toEqual({ type: "exec", command: [using, "dist/index.js"], env: {}, github: { using } });
  });

  test("reads what runs before and after", () => {
    const { definition } = compiled(
      runs(
        "using: Node24",
        "main: ./a.js",
        "pre: ../b.js",
        "pre-if: runner.os == 'Linux'",
        "post: c.js",
        "post-if: success()",
      ),
    );
    expect(definition).toMatchObject({
      command: ["node24", "./a.js"],
      github: { using: "node24", pre: "../b.js", preIf: "runner.os == 'Linux'", post: "c.js", postIf: "success()" },
    });
  });

  test.each([
    [runs("using: node20"), ["error missing-key 2"]],
    [runs("using: node20", "main: ''"), ["error missing-key 3"]],
    [runs("using: node20", "main:"), ["error missing-key 3"]],
    [runs("using: node20", "main: /etc/passwd"), ["error unsafe-path 3"]],
    [runs("using: node20", "main: 'C:\\x.js'"), ["error unsafe-path 3"]],
    [runs("using: node20", "main: '\\\\host\\x.js'"), ["error unsafe-path 3"]],
    [runs("using: node20", "main: https://x/y.js"), ["error unsafe-path 3"]],
    [runs("using: node20", "main: a.js", "post: /x.js"), ["error unsafe-path 4"]],
    [runs("using: node20", "main: ${{ inputs.x }}"), ["error expression-not-allowed 3"]],
    [runs("using: node20", "main: [a]"), ["error wrong-type 3"]],
    [runs("using: node20", "main: a.js", "image: x"), ["error key-of-other-kind 4"]],
    [runs("using: node20", "main: a.js", "steps: []"), ["error key-of-other-kind 4"]],
    [runs("using: node20", "main: a.js", "pots: b.js"), ["error unknown-key 4"]],
    [runs("using: node20", "main: a.js", "pre: b.js", "pre-if: ''"), ["warning empty-condition 5"]],
    [runs("using: node20", "main: a.js", "post-if: always( )"), []],
    [runs("using: node20", "main: a.js", "post-if: env.SKIP != 'true'"), []],
    [runs("using: node20", "main: a.js", "post-if: steps.x.outcome"), ["warning unavailable-context 4"]],
    [runs("using: node20", "main: a.js", "post-if: sucess()"), ["error invalid-expression 4"]],
    [runs("using: node22", "main: a.js"), ["warning unknown-using 2"]],
    [runs("using: nodejs", "main: a.js"), ["error unknown-using 2"]],
    [runs("using: node", "main: a.js"), ["error unknown-using 2"]],
    [runs("using: Python", "main: a.js"), ["error unknown-using 2"]],
    [runs("using: ${{ inputs.x }}", "main: a.js"), ["error expression-not-allowed 2"]],
    [runs("main: a.js"), ["error missing-key 2"]],
    [runs("plugin: checkout"), ["error not-supported 2"]],
    ["runs:\n", ["error wrong-type 1"]],
    ["runs: node20\n", ["error wrong-type 1"]],
    ["name: x\n", ["error missing-key 1"]],
  ])("says of %j what is wrong with it", (text, expected) => {
    expect(brief(compile(text).diagnostics)).toEqual(expected);
  });
});

describe("Docker actions", () => {
  test.each([
    "Dockerfile",
    "dockerfile",
    "images/Dockerfile",
    "../Dockerfile",
    "Dockerfile.alpine",
    "x/DOCKERFILE.dev",
    "alpine.Dockerfile",
    "MyDockerfile",
    "docker://alpine:3",
    "docker://ghcr.io/a/b@sha256:00",
  ])("takes %s for an image", (image) => {
    expect(compiled(runs("using: docker", `image: ${image}`)).definition).toEqual({
      type: "exec",
      command: ["docker"],
      env: {},
      github: { using: "docker", image },
    });
  });

  test.each([
    "alpine",
    "alpine:3",
    "docker:/x",
    "docker://",
    "'docker://a b'",
    "docker://-v",
    "Dockerfile/x",
    "a.dockerfiles",
  ])("refuses %s as an image", (image) => {
    expect(brief(compile(runs("using: docker", `image: ${image}`)).diagnostics)).toEqual(["error invalid-image 3"]);
  });

  test("reads entrypoints, arguments and environment", () => {
    const { definition } = compiled(
      runs(
        "using: DOCKER",
        "image: DOCKER://alpine",
        "entrypoint: /run.sh",
        "args: [a b, 5, true, '${{ inputs.x }}', ~]",
        "env: { A: 1, B: '${{ inputs.y }}' }",
        "pre-entrypoint: /pre.sh",
        "pre-if: always()",
        "post-entrypoint: /post.sh",
        "post-if: failure()",
      ),
    );
    expect(definition).toEqual({
      type: "exec",
      command: ["docker"],
      env: { A: "1", B: "${{ inputs.y }}" },
      github: {
        using: "docker",
        image: "docker://alpine",
        entrypoint: "/run.sh",
        args: ["a b", "5", "true", "${{ inputs.x }}", ""],
        pre: "/pre.sh",
        preIf: "always()",
        post: "/post.sh",
        postIf: "failure()",
      },
    });
  });

  test.each([
    [["env: { A: '${{ github.ref }}' }"], ["warning unavailable-context 4"]],
    [["args: ['${{ env.X }}']"], ["warning unavailable-context 4"]],
    [["args: a b"], ["error wrong-type 4"]],
    [["args: [[a]]"], ["error wrong-type 4"]],
    [["env: [A]"], ["error wrong-type 4"]],
    [["env: { A=B: x }"], ["error invalid-name 4"]],
    [["env: { A: x, a: y }"], ["error duplicate-key 4"]],
    [["entrypoint: ${{ inputs.x }}"], ["error expression-not-allowed 4"]],
    [["main: x"], ["error key-of-other-kind 4"]],
    [["post: x"], ["error key-of-other-kind 4"]],
  ])("says of %j what is wrong with it", (lines, expected) => {
    const text = runs("using: docker", "image: Dockerfile", ...lines);
    expect(brief(compile(text).diagnostics)).toEqual(expected);
  });

  test("needs an image", () => {
    expect(brief(compile(runs("using: docker")).diagnostics)).toEqual(["error missing-key 2"]);
    expect(brief(compile(runs("using: docker", "image: /x/Dockerfile")).diagnostics)).toEqual(["error unsafe-path 3"]);
  });
});

describe("the file", () => {
  test.each([
    ["", ["error invalid-manifest -"]],
    ["# nothing\n", ["error invalid-manifest -"]],
    ["just text", ["error invalid-manifest 1"]],
    ["- a", ["error invalid-manifest 1"]],
    [`${NODE}---\n${NODE}`, ["error invalid-manifest 3"]],
    [`name: [\n`, ["error yaml-syntax 2"]],
    [`a: &x {}\n${NODE}b: *y\n`, ["error unknown-alias 3"]],
  ])("refuses %j", (text, expected) => {
    const found = compile(text);
    expect(found.specDefinition).toBeUndefined();
    expect(brief(found.diagnostics)).toEqual(expected);
  });

  test("passes over what it does not know at the top", () => {
    expect(compile(`author: me\nbranding: { icon: x }\nx-y: [1]\n${NODE}`).diagnostics).toEqual([]);
  });

  test("notes what documentation asks for only when told to", () => {
    const text = `inputs: { a: { default: 1.10 } }\n${NODE}`;
    expect(compile(text).diagnostics).toEqual([]);
    expect(brief(compile(text, { advisesAuthor: true }).diagnostics)).toEqual([
      "note incomplete-manifest 1",
      "note incomplete-manifest 1",
      "note incomplete-manifest 1",
      "note changed-number 1",
    ]);
  });

  test("reads a byte order mark, Windows line ends, anchors and merges", () => {
    const text = `\uFEFFx: &env { A: a }\r\n${runs(
      "using: composite",
      "steps:",
      "  - run: |",
      "      one",
      "      two",
      "    shell: sh",
      "    env: { <<: *env, B: b }",
    ).replaceAll("\n", "\r\n")}`;
    const { definition } = compiled(text);
    const [only] = definition.type === "steps" ? definition.steps : [];
    expect(only?.env).toEqual({ A: "a", B: "b" });
    expect(only?.step).toMatchObject({
      specDefinition: { definition: { github: { script: "one\ntwo\n" } } },
    });
  });

  test("knows the place of each part of the baseline", () => {
    const text = `inputs: { a: { default: x } }\n${step("uses: a/b@v1", "if: true", "with: { c: d }", "env: { E: e }")}`;
    const { positionOf } = compile(text);
    const lines = (pointer: string): string => {
      const { line = 0, column = 0 } = positionOf(pointer) ?? {};
      return `${line}:${column}`;
    };
    expect(lines("/spec/inputs/a/default")).toBe("1:25");
    expect(lines("/spec/spec/inputs/a")).toBe("1:11");
    expect(lines("/definition/steps/0/step/url")).toBe("5:13");
    expect(lines("/definition/steps/0/github/if")).toBe("6:11");
    expect(lines("/definition/steps/0/inputs/c")).toBe("7:18");
    expect(lines("/definition/steps/0/env/E")).toBe("8:17");
    expect(lines("/definition/steps/7")).toBe("5:5");
  });

  test("points into a template of several lines", () => {
    const { diagnostics } = compile(step("run: |", "    echo one", "    echo ${{ nope }}", "shell: sh"));
    expect(diagnostics[0]?.position).toMatchObject({ line: 6, column: 20, length: 4 });
  });

  test("gives a baseline that can be written and read back", () => {
    const specDefinition = compiled(
      `inputs: { a: { default: "\${{ github.ref }}", required: true } }\n${step("run: x", "shell: sh", "id: a", "name: t")}`,
    );
    const decoded = decodeSpecDefinition(encodeSpecDefinition(specDefinition));
    expect(decoded.spec.inputs).toEqual(specDefinition.spec.inputs);
    expect(decoded.definition.github).toEqual(specDefinition.definition.github);
  });
});
