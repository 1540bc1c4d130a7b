import { encodeSpecDefinition } from "@steps/model/baseline";
import { describe, expect, test } from "vitest";
import { compileStepFile } from "../compile.ts";
import { writeStepFile } from "./write-step-file.ts";

const SPEC = `spec:
  description: What it is for
  inputs:
    who: {type: string, default: you, options: [you, me], description: Somebody}
    secret: {type: string, sensitive: true}
    tag: {type: string, match: '^v'}
    list: {type: array, default: []}
  outputs: {x: {type: number, default: 1}}
---
`;

describe("writeStepFile()", () => {
  test.each([
    [
      "a command",
      "exec: {command: [a, '${{ inputs.who }}'], work_dir: x, timeout: 90s, cancel_timeout: 1500ms}\nenv: {A: b}\n",
    ],
    ["a step by its name", "run: [{name: a, step: ./a, inputs: {x: [1, '${{ 2 }}'], y: {z: true}}, env: {A: b}}]\n"],
    [
      "steps from elsewhere",
      "run:\n  - {name: a, step: gitlab.com/g/p@v1}\n  - {name: b, step: 'builtin://gitlab/script', inputs: {script: [a]}}\n",
    ],
    ["a step that is computed", "run: [{name: a, step: './${{ inputs.who }}'}]\n"],
    ["a script with options", "run: [{name: a, script: 'echo ${{ inputs.who }}', inputs: {shell: sh}}]\n"],
    [
      "control",
      "run:\n  - {name: a, script: a, if: '${{ always() }}', timeout: 5m, continue_on_error: true, retry: {max: 2, backoff: 1s}}\n",
    ],
    [
      "lists in lists",
      "run:\n  - {name: a, parallel: [{name: b, exec: {command: [c]}}]}\nfinally: [{name: z, script: z}]\noutputs: {x: 2}\n",
    ],
  ])("gives back %s", (_, text) => {
    const first = compileStepFile({ name: "step.yml", text: SPEC + text });
    if (first.specDefinition === undefined) throw new Error(first.diagnostics.map(({ message }) => message).join("; "));
    const [spec, definition] = writeStepFile(first.specDefinition);
    // As JSON is YAML.
    const written = { name: "step.yml", text: `${JSON.stringify(spec)}\n---\n${JSON.stringify(definition)}\n` };
    const again = compileStepFile(written);
    expect(again.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(again.specDefinition && encodeSpecDefinition(again.specDefinition)).toEqual(
      encodeSpecDefinition(first.specDefinition),
    );
  });
});
