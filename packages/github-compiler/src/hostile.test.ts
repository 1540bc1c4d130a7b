import { MAX_ALIAS_NODES } from "@steps/source/limits";
import { describe, expect, test } from "vitest";
import { compileAction } from "./action/compile-action.ts";
import { compileWorkflowJob } from "./workflow/compile-job.ts";

function codes(text: string): string[] {
  const { specDefinition, diagnostics } = compileAction({ name: "action.yml", text });
  const found = [...new Set(diagnostics.map(({ severity, code }) => `${severity} ${code}`))];
  expect(specDefinition === undefined).toBe(found.some((one) => one.startsWith("error")));
  return found;
}

const composite = (steps: string): string => `runs:\n  using: composite\n  steps:\n${steps}`;

/** Ten levels, each ten times the one below. */
const BOMB = `${["a: &a [x,x,x,x,x,x,x,x,x,x]", ..."bcdefghij".split("").map((name, i) => `${name}: &${name} [${`*${"abcdefghi"[i]},`.repeat(10)}]`)].join("\n")}\n`;

describe("hostile manifests", () => {
  test.each([
    ["nesting", `x: ${"[".repeat(5000)}${"]".repeat(5000)}\nruns: {using: node20, main: x}`, ["error too-deep"]],
    [
      "nested mappings",
      `x: ${"{a: ".repeat(500)}1${"}".repeat(500)}\nruns: {using: node20, main: x}`,
      ["error too-deep"],
    ],
    ["an alias bomb", `${BOMB}runs: {using: node20, main: x}`, ["error alias-limit"]],
    ["a NUL", "runs: {using: node20, main: 'a\0b'}", ["error invalid-character"]],
    ["an escaped NUL", 'runs: {using: node20, main: "a\\0b"}', ["error invalid-character"]],
    ["a control character", "name: \u001b[31m\nruns: {using: node20, main: x}", ["error invalid-character"]],
    ["what was no UTF-8", "name: \uFFFD\nruns: {using: node20, main: x}", ["warning invalid-character"]],
    ["a huge text", `name: ${"x".repeat(5_000_000)}`, ["error text-too-large"]],
    [
      "a deep expression",
      `inputs: {a: {default: "\${{ ${"(".repeat(200)}1${")".repeat(200)} }}"}}\nruns: {using: node20, main: x}`,
      ["error invalid-expression"],
    ],
    [
      "a long expression",
      `inputs: {a: {default: "\${{ ${"true && ".repeat(5000)}true }}"}}\nruns: {using: node20, main: x}`,
      ["error invalid-expression"],
    ],
    [
      "open quotes",
      `inputs: {a: {default: "${"${{ '".repeat(20_000)}"}}\nruns: {using: node20, main: x}`,
      ["error invalid-expression"],
    ],
    ["one alias often", `x: &s {run: x, shell: sh}\n${composite("    - *s\n".repeat(2000))}`, []],
    ["prototypes", "inputs: {__proto__: {default: x}, constructor: {}}\nruns: {using: node20, main: x}", []],
    ["a key of a prototype", "runs: {using: node20, main: x, constructor: y}", ["error unknown-key"]],
  ])("bounds %s", (_, text, expected) => {
    expect(codes(text)).toEqual(expected);
  });

  test("reads ten thousand steps", () => {
    const step = (i: number): string =>
      `    - id: s${i}
      run: echo \${{ steps.s${i - 1}.outputs.x }}
      shell: bash
      env:
        A: b
`;
    const text = composite(Array.from({ length: 10_000 }, (_, i) => step(i)).join(""));
    const { specDefinition, positionOf } = compileAction({ name: "action.yml", text });
    expect(specDefinition?.definition).toMatchObject({ type: "steps" });
    expect(positionOf("/definition/steps/9999/env/A")?.line).toBe(50_003);
  });

  test("shows so many of a thousand mistakes, and says that there are more", () => {
    const text = composite("    - {run: x, shell: sh, id: a, nope: 1}\n".repeat(1000));
    const { diagnostics } = compileAction({ name: "action.yml", text });
    expect(diagnostics).toHaveLength(101);
    expect(diagnostics.at(-1)).toMatchObject({
      code: "too-many-problems",
      message: 'More problems of severity "error" are not shown',
    });
  });

  test("shows no control characters of a file", () => {
    const { diagnostics } = compileAction({ name: "a", text: 'runs: {using: "\\e[31mx", main: x}' });
    expect(diagnostics.map(({ message }) => message).join("")).not.toContain("\u001b");
  });

  test("follows aliases up to the limit", () => {
    expect(MAX_ALIAS_NODES).toBeGreaterThan(2000);
  });
});

describe("hostile workflows", () => {
  const workflow = (job: string): string => `on: push\njobs: { a: { runs-on: x, steps: [{ run: x }], ${job} } }`;

  test.each([
    [
      "product",
      `strategy: { matrix: { ${"abcdefghijkl"
        .split("")
        .map((name) => `${name}: [1,2,3,4,5,6,7,8,9,0]`)
        .join(", ")} } }`,
      "invalid-matrix",
    ],
    [
      "filters",
      `strategy: { matrix: { a: [${"1,".repeat(500)}], exclude: [${"{a: 2},".repeat(1000)}] } }`,
      "invalid-matrix",
    ],
    ["depth", `strategy: { matrix: { a: ["\${{ fromJSON('${"[".repeat(5000)}') }}"] } }`, "invalid-expression"],
    ["nothing left", `strategy: { matrix: { a: [1], exclude: [{a: 1}] } }`, "invalid-matrix"],
  ])("bounds the %s of a matrix", (_, job, code) => {
    const { diagnostics } = compileWorkflowJob({ name: "w", text: workflow(job) });
    expect(diagnostics.filter(({ severity }) => severity === "error").map((one) => one.code)).toEqual([code]);
  });

  test("does not evaluate a value again", () => {
    const text = workflow(`name: "\${{ vars.N }}", strategy: { matrix: { a: ["\${{ vars.N }}"] } }`);
    const { job } = compileWorkflowJob(
      { name: "w", text },
      { vars: { N: "${{ github.token }}" }, github: { token: "t" } },
    );
    expect([job?.name, job?.matrix?.["a"]]).toEqual(["${{ github.token }}", "${{ github.token }}"]);
  });
});
