import { encodeSpecDefinition } from "@steps/model/baseline";
import { STEP_NAME_PATTERN } from "@steps/model/definition";
import type { Diagnostic, Source } from "@steps/model/diagnostic";
import { canonicalJson } from "@steps/model/value";
import { childOf, readYaml, type YamlNode } from "@steps/source";
import { describe, expect, test } from "vitest";
import {
  type Compiled,
  compileInput,
  compileReference,
  compileRunNode,
  compileStepFile,
  compileStepList,
} from "./index.ts";

const source = (text: string): Source => ({ name: "test.yml", text });
const file = (definition: string, spec = "{}") => compileStepFile(source(`${spec}\n---\n${definition}`));
const list = (text: string) => compileStepList(source(text));
const baseline = ({ specDefinition, diagnostics }: Compiled) => {
  if (specDefinition === undefined) throw new Error(diagnostics.map(({ message }) => message).join("; "));
  return JSON.parse(JSON.stringify(encodeSpecDefinition(specDefinition)));
};
const summary = (diagnostics: readonly Diagnostic[]) =>
  diagnostics.map(({ severity, code, position }) => `${severity} ${code} ${position?.line}:${position?.column}`);

describe("step files of each generation", () => {
  const expected = {
    spec: { spec: { inputs: { who: { type: "string", default: "world" } }, outputMethod: "outputs" } },
    definition: { type: "exec", exec: { command: ["./hi.sh", "${{ inputs.who }}"], workDir: "." } },
  };

  test.each([
    [
      "2026",
      "spec:\n  inputs:\n    who: {type: string, default: world}",
      "exec:\n  command: [./hi.sh, '${{ inputs.who }}']\n  work_dir: .\n",
    ],
    [
      "blueprint",
      "spec:\n  inputs:\n    who: {default: world}",
      "type: exec\nexec: {command: [./hi.sh, '${{ inputs.who }}'], workdir: .}\n",
    ],
    [
      "prose",
      "spec: {inputs: {who: {default: world}}}",
      "exec: {command: [./hi.sh, '${{ inputs.who }}'], workDir: .}\n",
    ],
  ])("compiles the %s form", (_, spec, definition) => {
    expect(baseline(file(definition, spec))).toEqual(expected);
  });

  test("takes run and steps, func and step for the same", () => {
    const run = file("run: [{name: a, func: ./a}]\n");
    const steps = file("type: steps\nsteps: [{name: a, step: ./a}]\n");
    expect(baseline(run)).toEqual(baseline(steps));
  });

  test("keeps env values as the text they were written as", () => {
    const compiled = file("exec: {command: [a, 1.50]}\nenv: {A: 1.0, B: true, C: 0x1F, D: '', E: .inf}\n");
    expect(baseline(compiled).definition).toEqual({
      type: "exec",
      exec: { command: ["a", "1.50"] },
      env: { A: "1.0", B: "true", C: "0x1F", D: "", E: ".inf" },
    });
  });

  test("reports everything at once, in the order of the text", () => {
    const { diagnostics, specDefinition } = file("evn: {}\nexec: {comand: [a]}\nenv: {9A: x, B: null}\ndelegate: b\n");
    expect(specDefinition).toBeUndefined();
    expect(summary(diagnostics)).toEqual([
      "error unknown-key 3:1",
      "error unknown-key 4:8",
      "error invalid-name 5:7",
      "error wrong-type 5:17",
      "error conflicting-keys 6:1",
    ]);
    expect(diagnostics[0]?.hint).toBe('Did you mean "env"?');
    expect(diagnostics[1]?.hint).toBe('Did you mean "command"?');
  });

  test("makes unknown keys warnings when it is lenient, but not keys it cannot honour", () => {
    const text = "{}\n---\nexec: {command: [a]}\ngrpc: x\nfoo: 1\nx-mine: 1\n.anchors: 2\n";
    const { diagnostics } = compileStepFile(source(text), { isLenient: true });
    expect(summary(diagnostics)).toEqual(["error not-supported 4:1", "warning unknown-key 5:1"]);
  });

  test("wants types when it is strict", () => {
    const text = "spec: {inputs: {a: {}}}\n---\nexec: {command: [a]}\n";
    expect(summary(compileStepFile(source(text)).diagnostics)).toEqual(["note missing-type 1:20"]);
    expect(summary(compileStepFile(source(text), { requiresTypes: true }).diagnostics)).toEqual([
      "error missing-type 1:20",
    ]);
  });

  test("compares declared outputs with those given", () => {
    const { diagnostics } = file(
      "run: []\noutputs: {lines: 1}\n",
      "spec: {outputs: {line: {type: number}, other: {type: string, default: x}}}",
    );
    expect(summary(diagnostics)).toEqual([
      "error missing-output 1:24",
      "note empty-run 3:6",
      "error undeclared-output 4:18",
    ]);
    expect(diagnostics[2]?.hint).toBe('Did you mean "line"?');
  });
});

describe("expressions", () => {
  test("places an error inside of the scalar it is in", () => {
    const { diagnostics } = list(
      '- name: a\n  script: |\n    echo one\n    echo ${{ 1 + }}\n  env: {A: "x ${{ ( }}"}\n',
    );
    expect(diagnostics.map(({ code, position }) => [code, position?.line])).toEqual([
      ["invalid-expression", 4],
      ["invalid-expression", 5],
    ]);
    expect(diagnostics[0]?.position?.column).toBeGreaterThan(9);
  });

  test("reads an aliased text once", () => {
    const { diagnostics } = list('- step: ./a\n  inputs: {x: &x "${{ ( }}", y: *x, z: [*x, *x]}\n');
    expect(diagnostics).toHaveLength(1);
  });

  test("refuses them where text is literal", () => {
    const text = '- name: "${{ a }}"\n  step: {git: {url: "${{ vars.u }}", rev: "${{ vars.r }}", dir: "${{ x }}"}}\n';
    expect(summary(list(text).diagnostics)).toEqual([
      "error expression-not-allowed 1:10",
      "error expression-not-allowed 2:44",
      "error expression-not-allowed 2:66",
    ]);
  });

  test("makes an expanded reference with a computed url dynamic", () => {
    const compiled = list('- step: {git: {url: "https://${{ vars.h }}/p", rev: v1, dir: a, file: b.yml}}\n');
    expect(baseline(compiled).definition.steps).toEqual([
      { step: { protocol: "dynamic", pathExp: "git+https://${{ vars.h }}/p//a/b.yml@v1" } },
    ]);
  });

  test("notes what is pasted into a script, unless the runner itself says it", () => {
    const text =
      '- script: echo "${{ inputs.x }}" > ${{ output_file }}\n- script: echo ${{ 1 }} > ${{ export_file }}\n';
    expect(summary(list(text).diagnostics)).toEqual(["note script-injection 1:17"]);
  });
});

describe("inline steps", () => {
  test("have no spec, see their caller's inputs, and expand env where they stand", () => {
    const compiled = list("- exec: {command: [ls]}\n  env: {A: '${{ steps.x.outputs.y }}'}\n");
    const definition = compiled.specDefinition?.definition;
    expect(definition?.type === "steps" && definition.steps[0]).toMatchObject({
      name: "",
      step: { kind: "inline", seesCallerInputs: true, specDefinition: { definition: { type: "exec", env: {} } } },
      env: { A: "${{ steps.x.outputs.y }}" },
    });
  });

  test("nest, with places of their own", () => {
    const compiled = list("- run:\n  - run:\n    - script: echo\n");
    const pointer = "/definition/steps/0/step/specDef/definition/steps/0/step/specDef/definition/steps/0/inputs/script";
    expect(compiled.positionOf(pointer)).toMatchObject({ line: 3, column: 15 });
  });

  test("have the same places in a text of thousands of them", () => {
    const step = "- exec: {command: [echo, '${{ inputs.a }}'], workdir: /tmp}\n  env: {A: b}\n";
    const [short, long] = [list(step.repeat(10)), list(step.repeat(2000))];
    const parts = ["", "/env/A", "/step/specDef/definition/exec/command/1", "/step/specDef/definition/exec/workDir"];
    for (const part of parts) {
      const pointer = `/definition/steps/7${part}`;
      const { line, column } = short.positionOf(pointer) ?? {};
      expect(line).toBe(15 + (part === "/env/A" ? 1 : 0));
      expect(long.positionOf(pointer)).toMatchObject({ line, column });
    }
    expect(long.positionOf("/definition/steps/1999/env/A")).toMatchObject({ line: 4000 });
  });

  test("take no inputs", () => {
    expect(summary(list("- exec: {command: [ls]}\n  inputs: {a: 1}\n").diagnostics)).toEqual([
      "error conflicting-keys 2:3",
    ]);
  });
});

describe("compileInput", () => {
  const definition = { run: [{ name: "a", script: "echo" }] };
  const spec = { inputs: { x: { type: "string" } } };
  const input = (value: unknown) => compileInput(source(typeof value === "string" ? value : JSON.stringify(value)));

  test("tells all forms apart", () => {
    const [plain, full] = [baseline(input(definition)), baseline(input({ spec, definition }))];
    expect(baseline(input(definition.run))).toEqual(plain);
    expect(baseline(input(plain))).toEqual(plain);
    expect(baseline(input(plain.definition))).toEqual(plain);
    expect(baseline(input([{}, definition]))).toEqual(plain);
    expect(baseline(input([{ spec }, definition]))).toEqual(full);
    expect(baseline(input({ spec: { spec }, definition }))).toEqual(full);
    expect(baseline(input(`spec: ${JSON.stringify(spec)}\n---\n${JSON.stringify(definition)}`))).toEqual(full);
    expect(baseline(input(full))).toEqual(full);
  });

  test("reads baseline messages with their original names and numbers", () => {
    const compiled = input({
      spec: { spec: { inputs: { x: { type: 3, default: 1 } }, output_method: 1 } },
      definition: {
        type: 2,
        steps: [
          {
            name: "",
            step: { protocol: 7, spec_def: { definition: { type: 1, exec: { command: ["ls"], work_dir: "/" } } } },
          },
          { step: { protocol: 6, path_exp: "${{ vars.x }}" }, inputs: { a: null } },
          { step: { protocol: "local", path: [".", "a"], filename: "x.yml" } },
        ],
        delegate: "",
      },
    });
    expect(baseline(compiled)).toEqual({
      spec: { spec: { inputs: { x: { type: "number", default: 1 } }, outputMethod: "outputs" } },
      definition: {
        type: "steps",
        steps: [
          {
            step: {
              protocol: "spec_def",
              specDef: { definition: { type: "exec", exec: { command: ["ls"], workDir: "/" } } },
            },
          },
          { step: { protocol: "dynamic", pathExp: "${{ vars.x }}" }, inputs: { a: null } },
          { step: { protocol: "local", paths: { parts: [".", "a"] }, filename: "x.yml" } },
        ],
      },
    });
  });

  test("places errors in JSON", () => {
    const text =
      '{\n\t"run": [\n\t\t{"name": "a", "scrpt": "echo"},\n\t\t{"step": {"protocol": "git", "url": "ftp://h/p", "version": "v"}}\n\t]\n}';
    expect(summary(input(text).diagnostics)).toEqual(["error unknown-key 3:17", "error invalid-reference 4:12"]);
  });

  test.each([
    "",
    "null",
    "1",
    '"text"',
    "{}",
    '{"spec":{}}',
    '[{"spec":{}},1]',
    '{"definition":null}',
    "[[]]",
    "[null]",
  ])("has an error for %s", (text) => {
    const { specDefinition, diagnostics } = input(text);
    expect(specDefinition).toBeUndefined();
    expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true);
  });
});

describe("compileRunNode and compileReference", () => {
  test("compile nodes of a document that was read before, with places in it", () => {
    const document = readYaml(source("job:\n  run:\n  - name: a\n    scrip: x\n    step: ./a\n")).documents[0];
    const run = childOf(childOf(document, "job"), "run") as YamlNode;
    expect(summary(compileRunNode(run).diagnostics)).toEqual(["error unknown-key 4:5"]);
  });

  test.each([
    ["./a/b.yaml", { kind: "local", path: "./a", file: "b.yaml" }],
    ["{git: {url: h/p, rev: 1.0, dir: /a//b/}}", { kind: "git", url: "https://h/p", version: "1.0", dir: "a/b" }],
    [
      "{oci: {registry: H:5, repository: a/b, tag: 1.0, dir: /x/, file: y.yml}}",
      { kind: "oci", registry: "h:5", repository: "a/b", tag: "1.0", dir: "x", file: "y.yml" },
    ],
    [
      "{oci: {registry: h, repository: b, tag: ''}}",
      { kind: "oci", registry: "h", repository: "b", tag: "latest", dir: "" },
    ],
    [
      "{oci: {registry: h, repository: b, tag: '${{ vars.T }}', dir: x, file: y.yml}}",
      { kind: "dynamic", text: "oci://h/b:${{ vars.T }} x/y.yml" },
    ],
    ["{zip: {url: https://h/x, file: f.yml}}", { kind: "zip", url: "https://h/x", dir: "", file: "f.yml" }],
  ])("reads %s", (text, reference) => {
    const node = readYaml(source(text)).documents[0] as YamlNode;
    expect(compileReference(node)).toMatchObject({ reference, diagnostics: [] });
  });

  test.each([
    ["{git: {url: h/p}}", "missing-key"],
    ["{git: {url: h/p, rev: --upload-pack=x}}", "invalid-reference"],
    ["{git: {url: h/p, rev: v1, dir: ../x}}", "invalid-reference"],
    ["{git: {url: h/p, rev: v1, file: a/b.yml}}", "invalid-reference"],
    ["{git: {url: 'ext::sh -c x', rev: v1}}", "invalid-reference"],
    ["{zip: {url: h/p.zip, sha256: abc}}", "invalid-reference"],
    ["{git: {url: h/p, rev: v1}, zip: {url: x.zip}}", "conflicting-keys"],
    ["{oci: {registry: r, repository: p}}", "missing-key"],
    ["{oci: {registry: r, repository: P, tag: v1}}", "invalid-reference"],
    ["{oci: {registry: r/s, repository: p, tag: v1}}", "invalid-reference"],
    ["{oci: {registry: r, repository: ../p, tag: v1}}", "invalid-reference"],
    ["{oci: {registry: r, repository: p, tag: 'a b'}}", "invalid-reference"],
    ["{oci: {registry: r, repository: p, tag: v1, dir: ../x}}", "invalid-reference"],
    ["{oci: {registry: r, repository: p, tag: v1, url: x}}", "unknown-key"],
    ["{oci: {registry: r, repository: p, tag: v1}, git: {url: h/p, rev: v1}}", "conflicting-keys"],
    ["oci://h/P:1", "invalid-reference"],
    ["gitlab.com/a/b.git", "invalid-reference"],
    ["greet", "invalid-reference"],
    ["{}", "missing-key"],
    ["5", "wrong-type"],
  ])("refuses %s", (text, code) => {
    const { reference, diagnostics } = compileReference(readYaml(source(text)).documents[0] as YamlNode);
    expect(reference).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code, severity: "error" }]);
  });
});

test("an option that there is none of is refused, from plain JavaScript too", () => {
  const wrong: object = { isLenint: true };
  const compile = () => compileStepFile({ name: "step.yml", text: "{}" }, wrong);
  expect(compile).toThrow(new TypeError('The compiler has no option "isLenint"; did you mean "isLenient"?'));
});

describe("hostile input", () => {
  test("keeps __proto__ a key", () => {
    const compiled = list('- step: ./a\n  inputs: {x: {__proto__: {y: 1}}, __proto__: 2}\n  env: {__proto__: "3"}\n');
    const definition = compiled.specDefinition?.definition;
    const step = definition?.type === "steps" ? definition.steps[0] : undefined;
    expect(canonicalJson(step?.inputs)).toBe('{"__proto__":2,"x":{"__proto__":{"y":1}}}');
    expect(Object.keys(step?.env ?? {})).toEqual(["__proto__"]);
    expect(STEP_NAME_PATTERN.test("__proto__")).toBe(true);
  });

  test("refuses NUL in what a process is given", () => {
    expect(summary(list('- script: "echo \\0"\n  env: {A: "\\0"}\n').diagnostics)).toEqual([
      "error invalid-character 1:17",
      "error invalid-character 2:13",
    ]);
  });

  test("bounds the diagnostics of a hundred thousand unknown keys", () => {
    const keys = Array.from({ length: 100_000 }, (_, i) => `steppp${i}: x`).join("\n");
    const { diagnostics } = file(`${keys}\nexec: {command: [a]}\n`);
    expect(diagnostics).toHaveLength(101);
    expect(diagnostics.at(-1)?.message).toBe('More problems of severity "error" are not shown');
  });
});

test("says in plain English what is missing", () => {
  expect(list("- name: a").diagnostics.map(({ message }) => message)).toEqual(["The step does not say what to do"]);
  expect(file("env: {A: b}").diagnostics.map(({ message }) => message)).toEqual([
    "The definition does not say what to do",
  ]);
});

test.each([compileStepFile, compileInput])("lacks the line between spec and definition: %o", (compile) => {
  const text = "spec:\n  inputs: {a: {type: string}}\nexec:\n  command: [ls]\n";
  expect(compile(source(text)).diagnostics).toMatchObject([
    {
      message: "A line of --- is missing between the spec and the definition",
      hint: "Write --- on a line of its own before exec:.",
      position: { line: 3, column: 1 },
    },
  ]);
});
