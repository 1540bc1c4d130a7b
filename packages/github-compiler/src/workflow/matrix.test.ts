import type { Value } from "@steps/model";
import { describe, expect, test } from "vitest";
import { listWorkflowJobs } from "./list-jobs.ts";
import type { WorkflowOptions } from "./workflow-options.ts";

/** The names and matrices of a job's instances. */
function instances(
  job: string,
  options?: WorkflowOptions,
): { names: string[]; matrices: (Record<string, Value> | undefined)[] } {
  const indented = job.trim().replaceAll("\n", "\n    ");
  const text = `on: push\njobs:\n  test:\n    runs-on: x\n    steps: [{ run: x }]\n    ${indented}\n`;
  const { jobs, diagnostics } = listWorkflowJobs({ name: "ci.yml", text }, options);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0) return { names: errors.map(({ code, message }) => `${code}: ${message}`), matrices: [] };
  const found = jobs[0]?.instances ?? [];
  return { names: found.map(({ name }) => name), matrices: found.map(({ matrix }) => matrix && { ...matrix }) };
}

function matrix(body: string): ReturnType<typeof instances> {
  return instances(`strategy:\n  matrix:\n    ${body.trim().replaceAll("\n", "\n    ")}`);
}

describe("combinations", () => {
  test("is one job without a matrix", () => {
    expect(instances("name: Test")).toEqual({ names: ["Test"], matrices: [undefined] });
    expect(instances("strategy: { fail-fast: false }").names).toEqual(["test"]);
  });

  test("lets the first key change slowest", () => {
    expect(matrix("os: [a, b]\nnode: [18, 20]\nx: [true]").names).toEqual([
      "test (a, 18, true)",
      "test (a, 20, true)",
      "test (b, 18, true)",
      "test (b, 20, true)",
    ]);
  });

  test("keeps the types of values, and leaves what is empty out of the name", () => {
    expect(matrix("v: [1.10, '1.10', true, null, '', {a: x, b: [y, 2]}]")).toEqual({
      names: ["test (1.1)", "test (1.10)", "test (true)", "test", "test", "test (x, y, 2)"],
      matrices: [{ v: 1.1 }, { v: "1.10" }, { v: true }, { v: null }, { v: "" }, { v: { a: "x", b: ["y", 2] } }],
    });
  });

  test("cuts a name at 100 characters", () => {
    expect(matrix(`v: [${"x".repeat(200)}]`).names).toEqual([`test (${"x".repeat(91)}...`]);
  });

  test("appends to a name that is a text, not to one that is evaluated", () => {
    expect(instances("name: Build\nstrategy: { matrix: { os: [a, b] } }").names).toEqual(["Build (a)", "Build (b)"]);
    expect(instances("name: On ${{ matrix.os }}\nstrategy: { matrix: { os: [a, b] } }").names).toEqual([
      "On a",
      "On b",
    ]);
    expect(instances("name: ${{ matrix.nope }}\nstrategy: { matrix: { os: [a, b] } }").names).toEqual([
      "test (a)",
      "test (b)",
    ]);
    expect(
      instances("name: ${{ strategy.job-index }}/${{ strategy.job-total }}\nstrategy: { matrix: { os: [a, b] } }")
        .names,
    ).toEqual(["0/2", "1/2"]);
  });
});

describe("exclude", () => {
  test.each([
    ["exclude: [{os: a}]", ["test (b, 18)", "test (b, 20)"]],
    ["exclude: [{os: a, node: 18}]", ["test (a, 20)", "test (b, 18)", "test (b, 20)"]],
    ["exclude: [{os: A, node: '18'}]", ["test (a, 20)", "test (b, 18)", "test (b, 20)"]],
    ["exclude: [{os: a}, {node: 20}]", ["test (b, 18)"]],
    ["exclude: [{os: c}]", ["test (a, 18)", "test (a, 20)", "test (b, 18)", "test (b, 20)"]],
    ["exclude: []", ["test (a, 18)", "test (a, 20)", "test (b, 18)", "test (b, 20)"]],
    ["exclude: [{os: a}]\ninclude: [{os: a, node: 18}]", ["test (b, 18)", "test (b, 20)", "test (a, 18)"]],
    ["exclude: [{os: [a]}]", ["test (a, 18)", "test (a, 20)", "test (b, 18)", "test (b, 20)"]],
  ])("with %j", (line, expected) => {
    expect(matrix(`os: [a, b]\nnode: [18, 20]\n${line}`).names).toEqual(expected);
  });

  test("compares parts of values", () => {
    expect(matrix("v: [{a: 1, b: 2}, {a: 1, b: 3}]\nexclude: [{v: {b: 3}}]").names).toEqual(["test (1, 2)"]);
    expect(matrix("v: [[1, 2], [1, 3]]\nexclude: [{v: [1, 3]}]").names).toEqual(["test (1, 2)"]);
  });
});

describe("include", () => {
  test("follows the example of GitHub's documentation", () => {
    const found = matrix(`
fruit: [apple, pear]
animal: [cat, dog]
include:
  - color: green
  - color: pink
    animal: cat
  - fruit: apple
    shape: circle
  - fruit: banana
  - fruit: banana
    animal: cat`);
    expect(found.matrices).toEqual([
      { fruit: "apple", animal: "cat", color: "pink", shape: "circle" },
      { fruit: "apple", animal: "dog", color: "green", shape: "circle" },
      { fruit: "pear", animal: "cat", color: "pink" },
      { fruit: "pear", animal: "dog", color: "green" },
      { fruit: "banana" },
      { fruit: "banana", animal: "cat" },
    ]);
    expect(found.names).toEqual([
      "test (apple, cat)",
      "test (apple, dog)",
      "test (pear, cat)",
      "test (pear, dog)",
      "test (banana)",
      "test (banana, cat)",
    ]);
  });

  test("is all there is without lists", () => {
    expect(matrix("include: [{a: 1}, {a: 1, b: 2}]")).toEqual({
      names: ["test (1)", "test (1, 2)"],
      matrices: [{ a: 1 }, { a: 1, b: 2 }],
    });
  });

  test("puts what is like a list's key first in the name of a job of its own", () => {
    expect(matrix("os: [a]\ninclude: [{x: 1, os: b}]").names).toEqual(["test (a)", "test (b, 1)"]);
  });

  test("does not replace what a list says", () => {
    expect(matrix("os: [a]\ninclude: [{os: b, x: 1}, {x: 2}]").matrices).toEqual([
      { os: "a", x: 2 },
      { os: "b", x: 1 },
    ]);
  });
});

describe("expressions", () => {
  const options = { vars: { LIST: '["p", "q"]', ALL: '{"os":["m"],"include":[{"os":"m","x":1}]}' }, inputs: {} };

  test.each([
    ["strategy:\n  matrix:\n    v: ${{ fromJSON(vars.LIST) }}", ["test (p)", "test (q)"]],
    ["strategy:\n  matrix: ${{ fromJSON(vars.ALL) }}", ["test (m)"]],
    ["strategy:\n  matrix:\n    v: ['${{ github.ref }}']", ["test (refs/heads/main)"]],
    ['strategy:\n  matrix:\n    include: ${{ fromJSON(\'[{"a":1},{"a":2}]\') }}', ["test (1)", "test (2)"]],
    ['strategy: ${{ fromJSON(\'{"matrix":{"v":[7]}}\') }}', ["test (7)"]],
    ["strategy:\n  matrix:\n    v: ${{ fromJSON(needs.plan.outputs.list) }}", ["test (8)"]],
  ])("evaluates %j", (job, expected) => {
    const github = { ref: "refs/heads/main" };
    const needs = { plan: { result: "success", outputs: { list: "[8]" } } };
    expect(instances(job, { ...options, github, needs }).names).toEqual(expected);
  });
});

describe("malformed", () => {
  test.each([
    ["strategy: []", /^invalid-matrix: "strategy" must be a mapping$/],
    ["strategy: { matrx: {} }", /^unknown-key: /],
    ["strategy: { matrix: }", /^invalid-matrix: "matrix" must be a mapping/],
    ["strategy: { matrix: {} }", /gives no job at all/],
    ["strategy: { matrix: { os: [] } }", /"os" of the matrix has no values/],
    ["strategy: { matrix: { os: a } }", /"os" of the matrix must be a list/],
    ["strategy: { matrix: { os: [a], exclude: [{os: a}] } }", /gives no job at all/],
    ["strategy: { matrix: { os: [a], exclude: [{sys: a}] } }", /"exclude" names "sys"/],
    ["strategy: { matrix: { os: [a], exclude: [{}] } }", /"exclude" has an empty mapping/],
    ["strategy: { matrix: { os: [a], include: [{}] } }", /"include" has an empty mapping/],
    ["strategy: { matrix: { os: [a], include: {a: b} } }", /"include" must be a list of mappings/],
    ["strategy: { matrix: { os: [a], OS: [b] } }", /^duplicate-key: /],
    ["strategy: { matrix: { os: ['${{ matrix.x }}'] } }", /^unavailable-context: /],
    ["strategy: { matrix: { os: ['${{ steps.x }}'] } }", /^unavailable-context: /],
    ["strategy: { matrix: { os: '${{ fromJSON(vars.x) }}' } }", /^invalid-expression: /],
    [`strategy: { matrix: { os: [${"a,".repeat(257)}] } }`, /more than 256 jobs/],
    [
      `strategy: { matrix: {${"abcdefgh"
        .split("")
        .map((name) => `${name}: [1,2,3,4,5,6,7,8,9]`)
        .join(", ")}} }`,
      /too many combinations/,
    ],
  ])("refuses %j", (job, expected) => {
    expect(instances(job).names.join("\n")).toMatch(expected);
  });

  test("takes 256 jobs", () => {
    expect(matrix(`v: [${Array.from({ length: 256 }, (_, i) => i).join(",")}]`).names).toHaveLength(256);
  });
});
