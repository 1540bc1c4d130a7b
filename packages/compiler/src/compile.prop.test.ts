import { decodeSpecDefinition, encodeSpecDefinition } from "@steps/model/baseline";
import { formatDiagnostic, hasErrors, type Source } from "@steps/model/diagnostic";
import { canonicalJson } from "@steps/model/value";
import { childOf, readYaml, textPlace, type YamlScalar } from "@steps/source";
import { describe, expect, test } from "vitest";
import { Document, Scalar } from "yaml";
import {
  type Compiled,
  compileInput,
  compileReference,
  compileRunNode,
  compileStepFile,
  compileStepList,
} from "./index.ts";
import * as fc from "fast-check";

const VALID: readonly string[] = [
  `spec:
  inputs:
    who: {type: string, default: world, match: "^[a-z]+$", description: "who: to greet"}
    n: {type: number, default: 1.5, options: [1.5, 2]}
    list: {type: array, default: [a, {b: null, __proto__: 1}]}
    hidden: {type: string, sensitive: true}
    old: {default: 1.0}
  outputs:
    line: {type: string, default: ""}
---
exec:
  command: ["\${{ func_dir }}/hi.sh", "\${{ inputs.who }}", "", 5]
  work_dir: sub
env: {A: 1.0, B: true, C: "x \${{ inputs.n }}"}
`,
  `spec:
  outputs: delegate
---
run:
- name: a
  script: |
    echo hi
    echo "\${{ inputs.x }}"
  env: {X: &x "y"}
- name: b
  step: gitlab.com/g/p/-/dir/x.yml@v1
  inputs: {a: [1, -0, 1e300, null], b: {c: *x}}
- name: c
  func: {git: {url: gitlab.com/g/p.git, rev: 1.0, dir: /a/b/, file: f.yml}}
- step: {zip: {url: https://h/x.zip, sha256: "${"0a".repeat(32)}", dir: d}}
- step: ./local/func.yml
- step: ../up
- func: builtin://docker/login
- func: "\${{ vars.REF }}"
- exec: {command: [ls]}
  env: {A: b}
- run:
  - script: [a, b]
    inputs: {shell: sh, errexit: false}
  - run: []
  outputs: {x: "\${{ steps.a.outputs.y }}"}
delegate: b
`,
  '[{"name":"a","script":"echo"},{"step":"h/p@v1","inputs":{"x":{"y":[true,"\\u00e9"]}}}]',
  '{"type":"steps","steps":[{"step":{"protocol":"local","paths":{"parts":[".","a"]}}}],"outputs":{"x":1}}',
  `spec: {secrets: {pw: {permissions: [read_api], as: file}}}
---
parallel:
- {name: a, script: ls, if: inputs.x == 1, when: always, timeout: 1h30m, retry: {max: 2, backoff: 1.5s}}
- {name: b, func: registry.example.com/g/p:1.0 d/func.yml, if: "\${{ success() && !cancelled() }}", continue_on_error: true}
- name: c
  run: [{exec: {command: [a], timeout: 5, cancel_timeout: 500ms}}]
  finally: [{name: z, script: [a, b], retry: 3}]
finally: [{func: {oci: {registry: h, repository: a/b, tag: latest}}, secrets: [pw], allow_failure: false}]
inherit_env: [PATH, CI_*]
`,
];

const compilers: readonly ((source: Source) => Compiled)[] = [
  (source) => compileStepFile(source),
  (source) => compileStepList(source),
  (source) => compileInput(source),
  (source) => compileInput(source, { isLenient: true, requiresTypes: true }),
];

function compileAll(text: string): void {
  const source = { name: "test", text };
  for (const compile of compilers) {
    const compiled = compile(source);
    expect(compiled.specDefinition === undefined).toBe(hasErrors(compiled.diagnostics));
    for (const diagnostic of compiled.diagnostics) {
      expect(diagnostic.message).not.toMatch(/\.$|^[a-z]+ [a-z]+ .*undefined/);
      expect(formatDiagnostic(diagnostic)).toContain(diagnostic.code);
    }
    compiled.positionOf("/definition/steps/0/inputs/x/~1/y");
    if (compiled.specDefinition !== undefined) expectRoundTrip(compiled);
  }
  for (const document of readYaml(source).documents) {
    compileRunNode(document);
    compileReference(document);
  }
}

function expectRoundTrip({ specDefinition }: Compiled): void {
  if (specDefinition === undefined) throw new Error("nothing was compiled");
  // Credentials are left out of the baseline on purpose, and it has no raw outputs.
  const expected = canonicalJson(specDefinition).replaceAll('"isRaw":true,', "");
  if (/@[^"]*@|:\/\/[^"/]*@|token|sig|key|auth/.test(expected)) return;
  const json = JSON.stringify(encodeSpecDefinition(specDefinition));
  expect(canonicalJson(decodeSpecDefinition(JSON.parse(json)))).toBe(expected);
  const again = compileInput({ name: "baseline", text: json });
  expect(again.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(canonicalJson(again.specDefinition)).toBe(expected);
}

describe("properties", () => {
  test("round-trips what it compiles", () => {
    const [file, list] = [compileStepFile, compileStepList];
    expectRoundTrip(file({ name: "1", text: VALID[0] as string }));
    expectRoundTrip(file({ name: "2", text: VALID[1] as string }));
    expectRoundTrip(list({ name: "3", text: VALID[2] as string }));
    expectRoundTrip(compileInput({ name: "4", text: VALID[3] as string }));
    expectRoundTrip(file({ name: "5", text: VALID[4] as string }));
  });

  test("never throws for any text", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), compileAll), { numRuns: 300 });
  });

  test("never throws for words of the language in any order", () => {
    const words =
      "spec: inputs: outputs: type: exec: run: steps: command: env: name: script: step: func: default: options: match: delegate: if: when: retry: finally: parallel: secrets: {git: {zip: url: rev: protocol: specDef: definition: - - \n \n --- {} [] [ ] { } , ${{ }} inputs.x a 1 true null &a *a <<: | > ' \" ! # __proto__: \\".split(
        " ",
      );
    const soup = fc.array(fc.constantFrom(...words, "\n", "\n  ", " "), { maxLength: 40 });
    fc.assert(
      fc.property(soup, (parts) => compileAll(parts.join(" "))),
      { numRuns: 500 },
    );
  });

  test("never throws for a damaged file", () => {
    const piece = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom("\n", ": ", "- ", "{", "]", "${{", "\t", "*x"));
    const edit = fc.record({ at: fc.nat(), remove: fc.nat(12), insert: piece });
    fc.assert(
      fc.property(fc.constantFrom(...VALID), fc.array(edit, { minLength: 1, maxLength: 4 }), (text, edits) => {
        const damaged = edits.reduce((whole, { at, remove, insert }) => {
          const start = at % (whole.length + 1);
          return whole.slice(0, start) + insert + whole.slice(start + remove);
        }, text);
        compileAll(damaged);
      }),
      { numRuns: 400 },
    );
  });

  test("never throws for any JSON", () => {
    fc.assert(
      fc.property(fc.json(), (text) => compileAll(text)),
      { numRuns: 300 },
    );
  });

  test("keeps JSON values of inputs exactly", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify([{ step: "./a", inputs: { x: value } }]);
        const compiled = compileInput({ name: "json", text });
        const definition = compiled.specDefinition?.definition;
        if (definition?.type !== "steps") {
          // Only what looks like an expression may fail.
          expect(text).toContain("${{");
          return;
        }
        expect(canonicalJson(definition.steps[0]?.inputs["x"])).toBe(canonicalJson(JSON.parse(JSON.stringify(value))));
      }),
      { numRuns: 400 },
    );
  });

  test("finds each character of a scalar in the source, in every style", () => {
    const styles = fc.constantFrom("PLAIN", "QUOTE_DOUBLE", "QUOTE_SINGLE", "BLOCK_LITERAL", "BLOCK_FOLDED");
    const unit = fc.constantFrom(..."ab \n\"'\\:#${}é\t-".split(""), "😀", "long word ");
    fc.assert(
      fc.property(styles, fc.array(unit, { minLength: 1, maxLength: 120 }), (style, units) => {
        const scalar = new Scalar(units.join(""));
        scalar.type = style as Scalar.Type;
        const text = new Document({ key: scalar }).toString();
        const found = childOf(readYaml({ name: "t", text }).documents[0], "key");
        // The library's writer makes a few plain scalars that are none.
        fc.pre(found?.kind === "scalar");
        const node = found as YamlScalar;
        for (let i = 0; i < node.text.length; i++) {
          if (/\s/.test(node.text[i] as string)) continue;
          const { offset } = textPlace(node, i, 1);
          const written = text[offset] as string;
          expect(written === node.text[i] || (node.style === "double-quoted" && written === "\\")).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
