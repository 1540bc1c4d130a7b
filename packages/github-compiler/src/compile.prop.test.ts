import { encodeSpecDefinition } from "@steps/model/baseline";
import { formatDiagnostic, hasErrors } from "@steps/model/diagnostic";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compileAction } from "./action/compile-action.ts";
import { compileWorkflowJob } from "./workflow/compile-job.ts";
import { listWorkflowJobs } from "./workflow/list-jobs.ts";

function check(text: string): void {
  const source = { name: "x.yml", text };
  for (const compile of [compileAction, compileWorkflowJob]) {
    const { specDefinition, diagnostics, positionOf } = compile(source);
    expect(specDefinition === undefined).toBe(hasErrors(diagnostics));
    for (const diagnostic of diagnostics) formatDiagnostic(diagnostic);
    if (specDefinition !== undefined) encodeSpecDefinition(specDefinition);
    positionOf("/definition/steps/0/github/if");
  }
  listWorkflowJobs(source);
}

test("never throws for any text", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), check), { numRuns: 150 });
});

const ACTION = `
name: x
inputs: { a: { default: "\${{ github.ref }}", required: true } }
outputs: { o: { value: "\${{ steps.s.outputs.x }}" } }
runs:
  using: composite
  steps:
    - { id: s, run: "echo \${{ inputs.a }}", shell: bash, if: "always()", env: { A: b } }
    - { uses: "a/b@v1", with: { c: 1.0 }, continue-on-error: true }
`;

const WORKFLOW = `
on: { workflow_dispatch: { inputs: { i: { type: boolean } } } }
env: { A: 1 }
jobs:
  t:
    runs-on: "\${{ matrix.o }}"
    strategy: { matrix: { o: [a, b], include: [{ o: a, x: 1 }], exclude: [{ o: b }] } }
    container: { image: x, env: { Y: z } }
    services: { d: redis }
    outputs: { o: "\${{ steps.s.outputs.x }}" }
    steps: [{ run: x, id: s, timeout-minutes: 3 }]
`;

test.each([ACTION, WORKFLOW])("takes any damage to a file", (whole) => {
  check(whole);
  const part = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ":",
    "- ",
    "\n",
    "  ",
    "${{",
    "}}",
    "'",
    '"',
    "&a ",
    "*a",
    "<<: ",
    "!x ",
    "~",
    "0x1",
    "|\n",
    "\0",
  );
  const damage = fc.tuple(fc.nat(whole.length), fc.nat(12), fc.oneof(part, fc.constant("")));
  fc.assert(
    fc.property(fc.array(damage, { minLength: 1, maxLength: 4 }), (damages) => {
      let text = whole;
      for (const [at, length, put] of damages) text = text.slice(0, at) + put + text.slice(at + length);
      check(text);
    }),
    { numRuns: 150 },
  );
});
