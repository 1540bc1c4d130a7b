import { encodeSpecDefinition } from "@steps/model/baseline";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compilePrototext } from "../compile.ts";

function compile(text: string): ReturnType<typeof compilePrototext> {
  return compilePrototext({ name: "x.txtpb", text });
}

function baselineOf(text: string): unknown {
  const { specDefinition, diagnostics } = compile(text);
  expect(diagnostics).toEqual([]);
  return specDefinition && encodeSpecDefinition(specDefinition);
}

describe("compilePrototext()", () => {
  test("reads a definition", () => {
    const text = `
      # what GitLab's step runner takes
      type: exec
      exec: { command: ["echo", 'a "quoted" one'] command: "\\303\\244\\x41\\u00e4\\n" work_dir: "." timeout { seconds: 1 nanos: 500000000 } }
      env { key: "A" value: "1" }; env < key: "B", value: "two" " parts" >
    `;
    expect(baselineOf(text)).toEqual({
      spec: { spec: { outputMethod: "outputs" } },
      definition: {
        type: "exec",
        exec: { command: ["echo", 'a "quoted" one', "äAä\n"], workDir: ".", timeout: "1.500s" },
        env: { A: "1", B: "two parts" },
      },
    });
  });

  test("reads a spec with its definition, steps, references and values", () => {
    const text = `
      spec { spec {
        inputs { key: "who" value { type: string default { string_value: "me" } sensitive: true } }
        inputs { key: "list" value { type: array default { list_value { values { number_value: 1 } values { bool_value: false } } } } }
        outputs { key: "x" value { type: struct default { struct_value { fields { key: "a" value { null_value: NULL_VALUE } } } } } }
        output_method: outputs
      } }
      definition {
        type: steps
        steps {
          name: "greet"
          step { protocol: local paths { parts: "." parts: "greet" } }
          inputs { key: "who" value { string_value: "\${{ inputs.who }}" } }
        }
        steps { step { protocol: spec_def specDef { definition { type: exec exec { command: "ls" } } } } }
        outputs { key: "x" value { struct_value {} } }
      }
    `;
    expect(baselineOf(text)).toEqual({
      spec: {
        spec: {
          inputs: {
            who: { type: "string", default: "me", sensitive: true },
            list: { type: "array", default: [1, false] },
          },
          outputs: { x: { type: "struct", default: { a: null } } },
          outputMethod: "outputs",
        },
      },
      definition: {
        type: "steps",
        steps: [
          {
            name: "greet",
            step: { protocol: "local", paths: { parts: [".", "greet"] } },
            inputs: { who: "${{ inputs.who }}" },
          },
          {
            step: {
              protocol: "spec_def",
              specDef: { definition: { type: "exec", exec: { command: ["ls"] } } },
            },
          },
        ],
        outputs: { x: {} },
      },
    });
  });

  test.each([
    ["exec { command: }", 1, 17, "A value is expected"],
    ["exec {\n  command: 'a\n}", 2, 12, "The string is not closed"],
    ["exec {", 1, 6, "The message is not closed"],
    ["exec: {}}", 1, 9, "The name of a field is expected"],
    ["type exec", 1, 6, 'After "type" a colon or a message is expected'],
    ['type: "\\q"', 1, 8, "The escape is none that protobuf knows"],
    ["command: [1 2]", 1, 13, 'In a list "," or "]" is expected'],
  ])("says where %j is no protobuf text", (text, line, column, message) => {
    const { specDefinition, diagnostics } = compile(text);
    expect(specDefinition).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code: "prototext-syntax", message, position: { line, column } }]);
  });

  test("says where a message is no definition", () => {
    const { diagnostics } = compile('type: exec\nexec { comand: "ls" }\n');
    expect(diagnostics[0]).toMatchObject({
      code: "unknown-key",
      hint: 'Did you mean "command"?',
      position: { line: 2, column: 8 },
    });
  });

  test("ends on hostile texts", () => {
    for (const text of ["a{".repeat(100_000), "a: [".repeat(1000), "{".repeat(1000), `a: ${'"x"'.repeat(10_000)}`]) {
      expect(compile(text).specDefinition).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z:{}<>[\]"'\\0-9 ,;#\n-]{0,60}$/), (text) => {
        const { specDefinition, diagnostics } = compile(text);
        return (specDefinition === undefined) === diagnostics.some(({ severity }) => severity === "error");
      }),
    );
  });
});
