import { encodeSpecDefinition } from "@steps/model/baseline";
import type { StepsDefinition } from "@steps/model/definition";
import { type Diagnostic, formatDiagnostic } from "@steps/model/diagnostic";
import { describe, expect, test } from "vitest";
import { type CompiledWorkflowJob, compileWorkflowJob } from "./compile-job.ts";
import { listWorkflowJobs } from "./list-jobs.ts";
import type { CompileWorkflowJobOptions } from "./workflow-options.ts";

function compile(text: string, options?: CompileWorkflowJobOptions): CompiledWorkflowJob {
  return compileWorkflowJob({ name: "ci.yml", text }, options);
}

function brief(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ severity, code, position }) => `${severity} ${code} ${position?.line ?? "-"}`);
}

interface Found {
  readonly job: NonNullable<CompiledWorkflowJob["job"]>;
  readonly definition: StepsDefinition;
}

function compiled(text: string, options?: CompileWorkflowJobOptions): Found {
  const { job, specDefinition, diagnostics } = compile(text, options);
  if (job === undefined || specDefinition?.definition.type !== "steps") {
    throw new Error(diagnostics.map(formatDiagnostic).join("\n"));
  }
  expect(() => encodeSpecDefinition(specDefinition)).not.toThrow();
  return { job, definition: specDefinition.definition };
}

/** A workflow whose one job has the given keys from line 4 on, after `runs-on` and `steps` in line 3. */
function job(...lines: string[]): string {
  const own = lines.map((line) => `    ${line.replaceAll("\n", "\n    ")}\n`).join("");
  return `on: push\njobs:\n  test: &t\n${own}    runs-on: ubuntu-latest\n    steps: [{ run: x }]\n`;
}

/** A workflow whose one job has one step with the given keys, from line 6 on. */
function step(...lines: string[]): string {
  const own = lines.map((line, i) => `      ${i === 0 ? "-" : " "} ${line}\n`).join("");
  return `on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n${own}`;
}

describe("a job", () => {
  test("is a list of steps with what surrounds them", () => {
    const { job, definition } = compiled(
      `
name: CI
on: [push]
env: { A: workflow, B: "\${{ github.ref }}" }
defaults: { run: { shell: sh, working-directory: top } }
jobs:
  test:
    name: Test
    runs-on: [self-hosted, "\${{ matrix.os }}"]
    needs: [build]
    if: github.ref == 'refs/heads/main'
    timeout-minutes: \${{ matrix.minutes }}
    strategy:
      fail-fast: false
      max-parallel: 1
      matrix: { os: [linux], minutes: [1.5] }
    env: { A: job, C: "\${{ secrets.C }}" }
    defaults: { run: { working-directory: "\${{ matrix.os }}" } }
    outputs: { version: "\${{ steps.v.outputs.version }}" }
    container: { image: "node:20", env: { X: "\${{ secrets.X }}" }, ports: [80], volumes: ["a:/b"], options: --cpus 1 }
    services:
      db: { image: postgres, credentials: { username: u, password: "\${{ secrets.P }}" } }
      cache: redis
    steps:
      - run: a
        timeout-minutes: 2
        name: First
      - run: b
        shell: bash
        working-directory: other
        id: v
      - uses: actions/checkout@v4
  build: { runs-on: x, steps: [{ run: c }] }
`,
      { vars: { V: "1" }, jobName: "test" },
    );
    expect(job).toEqual({
      id: "test",
      name: "Test (linux, 1.5)",
      workflowName: "CI",
      matrix: { os: "linux", minutes: 1.5 },
      runsOn: ["self-hosted", "linux"],
      needs: ["build"],
      if: "github.ref == 'refs/heads/main'",
      verdict: expect.objectContaining({ holds: false, isUnknown: false }),
      timeoutMinutes: 1.5,
      outputs: ["version"],
      container: {
        image: "node:20",
        env: { X: "${{ secrets.X }}" },
        ports: ["80"],
        volumes: ["a:/b"],
        options: "--cpus 1",
      },
      services: {
        db: { image: "postgres", credentials: { username: "u", password: "${{ secrets.P }}" } },
        cache: { image: "redis" },
      },
    });
    expect(definition).toMatchObject({
      env: { A: "job", B: "${{ github.ref }}", C: "${{ secrets.C }}" },
      outputs: { version: "${{ steps.v.outputs.version }}" },
      github: {
        using: "job",
        contexts: {
          strategy: { "fail-fast": false, "job-index": 0, "job-total": 1, "max-parallel": 1 },
          matrix: { os: "linux", minutes: 1.5 },
          needs: {},
          inputs: {},
          vars: { V: "1" },
        },
        container: job.container,
        services: job.services,
      },
    });
    const inline = definition.steps.map(({ step }) => (step.kind === "inline" ? step.specDefinition.definition : step));
    expect(inline).toMatchObject([
      { command: ["sh"], workDir: "${{ matrix.os }}" },
      { command: ["bash"], workDir: "other" },
      { kind: "action", repository: "actions/checkout" },
    ]);
    expect(definition.steps.map(({ name, github }) => [name, github])).toEqual([
      ["", { title: "First", timeoutMinutes: "2" }],
      ["v", {}],
      ["", {}],
    ]);
  });

  test("leaves the shell to the machine where nothing names one", () => {
    const { definition } = compiled(step("run: x"));
    const only = definition.steps[0]?.step;
    expect(only?.kind === "inline" && only.specDefinition.definition).toMatchObject({ command: ["{0}"] });
    expect(definition.github?.contexts?.["matrix"]).toBeNull();
  });

  test.each([
    [["permissions: read-all"], ["note key-not-honoured 4"]],
    [["permissions: {contents: read}"], ["note key-not-honoured 4"]],
    [["concurrency: x"], ["note key-not-honoured 4"]],
    [["environment: prod"], ["note key-not-honoured 4"]],
    [["continue-on-error: true"], ["note key-not-honoured 4"]],
    [["snapshot: x"], ["note key-not-honoured 4"]],
    [["needs: build"], ["error missing-job 4", "note key-not-honoured 4"]],
    [["needs: []"], []],
    [["nedes: build"], ["error unknown-key 4"]],
    [["x-own: 1"], ["error unknown-key 4"]],
    [["uses: ./x.yml"], ["error not-supported 4"]],
    [["timeout-minutes: soon"], ["error invalid-value 4"]],
    [["timeout-minutes: 0"], ["error invalid-value 4"]],
    [["timeout-minutes: ${{ vars.NOPE }}"], ["error invalid-value 4"]],
    [["if: secrets.X"], ["error unavailable-context 4"]],
    [["if: matrix.x == 1"], ["error unavailable-context 4"]],
    [["if: always()"], []],
    [["name: ${{ env.X }}"], ["error unavailable-context 4"]],
    [["env: { A: '${{ env.B }}' }"], ["error unavailable-context 4"]],
    [["env: { A: '${{ needs.x.outputs.y }}' }"], []],
    [["env: { A=1: b }"], ["error invalid-name 4"]],
    [["outputs: { a: '${{ steps.x.outputs.y }}' }"], []],
    [["outputs: { a: '${{ jobs.x }}' }"], ["error unavailable-context 4"]],
    [["defaults: { run: { shell: zsh } }"], ["error invalid-value 4"]],
    [["defaults: { run: { shell: '${{ matrix.x }}' } }"], []],
    [["defaults: { run: { shel: sh } }"], ["error unknown-key 4"]],
    [["defaults: { rnu: {} }"], ["error unknown-key 4"]],
    [["container: { imag: x }"], ["error unknown-key 4"]],
    [["container: { volumes: [a] }"], ["error missing-key 4"]],
    [["container: { image: x, env: { A: '${{ secrets.A }}' } }"], []],
    [["container: { image: x, volumes: a }"], ["error wrong-type 4"]],
    [["container: { image: x, entrypoint: y }"], ["error unknown-key 4"]],
    [["services: { db: { image: x, entrypoint: y, command: z } }"], []],
    [["services: { 'a b': x }"], ["error invalid-name 4"]],
    [["services: [x]"], ["error wrong-type 4"]],
  ])("says of %j what is wrong with it", (lines, expected) => {
    expect(brief(compile(job(...lines)).diagnostics)).toEqual(expected);
  });

  test.each([
    ["container:", undefined],
    ["container: ''", undefined],
    ["container: ${{ matrix.image }}", undefined],
    ["container: { image: '${{ vars.NONE }}' }", undefined],
    ["container: node", { image: "node" }],
    ["container: ${{ vars.IMAGE }}", { image: "${{ vars.IMAGE }}" }],
    ["container: ${{ fromJSON(vars.BOX) }}", { image: "x", options: "${{ '${{' }} secrets.X }}" }],
    ["container: { image: x, ports: '${{ fromJSON(vars.PORTS) }}' }", { image: "x", ports: [80, "81"] }],
  ])("reads %j", (line, expected) => {
    const vars = { IMAGE: "alpine", BOX: '{"image":"x","options":"${{ secrets.X }}"}', PORTS: '[80,"81"]' };
    expect(compiled(job(line), { vars }).job.container).toEqual(expected);
  });

  test.each([
    ["ubuntu-latest", ["ubuntu-latest"], 0],
    ["[self-hosted, linux, x64]", ["self-hosted", "linux", "x64"], 0],
    ["{ group: g, labels: [a] }", ["a"], 0],
    ["{ group: g }", [], 0],
    ['${{ fromJSON(\'["a","b"]\') }}', ["a", "b"], 0],
    ["windows-latest", ["windows-latest"], 1],
    ["[self-hosted, macOS]", ["self-hosted", "macOS"], 1],
    ["macos-14-large", ["macos-14-large"], 1],
    ["windowsill", ["windowsill"], 0],
  ])("asks for %s", (runsOn, expected, warnings) => {
    const text = `on: push\njobs:\n  a:\n    runs-on: ${runsOn}\n    steps: [{ run: x }]\n`;
    const { job: found, diagnostics } = compile(text);
    expect(found?.runsOn).toEqual(expected);
    expect(diagnostics.map(({ code }) => code)).toEqual(Array(warnings).fill("other-system"));
  });
});

describe("steps of a job", () => {
  test.each([
    [["run: x", "timeout-minutes: 5"], []],
    [["run: x", "timeout-minutes: 0.5"], []],
    [["run: x", "timeout-minutes: '${{ matrix.t }}'"], []],
    [["run: x", "timeout-minutes: long"], ["error invalid-value 7"]],
    [["run: x", "timeout-minutes: -1"], ["error invalid-value 7"]],
    [["run: ${{ secrets.A }} ${{ vars.B }} ${{ needs.c }}"], []],
    [["run: ${{ jobs.a }}"], ["error unavailable-context 6"]],
    [["run: x", "if: secrets.A"], ["error unavailable-context 7"]],
    [["run: x", "if: vars.A"], []],
    [["run: x", "shell: '${{ matrix.s }}'"], ["error expression-not-allowed 7"]],
    [["run: x", "shell: zsh"], ["error invalid-value 7"]],
    [["run: x", "shell: zsh {0}"], []],
    [["run: x", "comment: y"], ["error unknown-key 7"]],
    [["run: 1.10"], ["warning changed-number 6"]],
    [["uses: a/b@v1", "with: { python-version: 3.10 }"], ["warning changed-number 7"]],
    [["uses: a/b@v1", "with: { python-version: '3.10', n: +5, e: 0x1 }"], ["warning changed-number 7"]],
    [["uses: a/b@v1", "with:"], ["warning wrong-type 7"]],
  ])("says of %j what is wrong with it", (lines, expected) => {
    expect(brief(compile(step(...lines)).diagnostics)).toEqual(expected);
  });
});

describe("the file", () => {
  test.each([
    ["", ["error invalid-workflow -"]],
    ["a", ["error invalid-workflow 1"]],
    ["on: push", ["error invalid-workflow 1"]],
    ["on: push\njobs: {}", ["error invalid-workflow 2"]],
    ["on: push\njobs:", ["error invalid-workflow 2"]],
    ["on: push\njobs: [a]", ["error invalid-workflow 2"]],
    ["jobs: {a: {runs-on: x, steps: [{run: x}]}}", ["error missing-key 1"]],
    ["on:\njobs: {a: {runs-on: x, steps: [{run: x}]}}", ["error missing-key 1"]],
    ["on: push\njobs: {a: {steps: [{run: x}]}}", ["error missing-key 2"]],
    ["on: push\njobs: {a: {runs-on: x}}", ["error missing-key 2"]],
    ["on: push\njobs: {a: {runson: x, steps: [{run: x}]}}", ["error unknown-key 2"]],
    ["on: push\njobs: {a: {runs-on: x, stpes: [{run: x}]}}", ["error unknown-key 2"]],
    ["on: push\njobs: {a: x}", ["error wrong-type 2"]],
    ["on: push\njobs: {1a: {runs-on: x, steps: [{run: x}]}}", ["error invalid-name 2"]],
    ["on: push\nevn: {}\njobs: {a: {runs-on: x, steps: [{run: x}]}}", ["error unknown-key 2"]],
    [
      "on: push\nenv: {A: '${{ needs.x }}'}\njobs: {a: {runs-on: x, steps: [{run: x}]}}",
      ["error unavailable-context 2"],
    ],
    [
      "on: push\ndefaults: {run: {shell: '${{ vars.S }}'}}\njobs: {a: {runs-on: x, steps: [{run: x}]}}",
      ["error expression-not-allowed 2"],
    ],
    ["on: push\njobs: {a: {runs-on: x, steps: [{run: x}]}}\n---\na: b", ["error invalid-workflow 4"]],
  ])("refuses %j", (text, expected) => {
    const { specDefinition, job: found, diagnostics } = compile(text);
    expect([specDefinition, found]).toEqual([undefined, undefined]);
    expect(brief(diagnostics)).toEqual(expected);
  });
});

describe("choosing", () => {
  const text = `
on: push
jobs:
  build: { runs-on: x, steps: [{ run: x }] }
  test:
    name: Test on \${{ matrix.os }}
    strategy: { matrix: { os: [linux, mac], node: [18, 20] } }
    runs-on: x
    steps: [{ run: x }]
  lint: { name: Lint it, runs-on: x, steps: [{ run: x }] }
  call: { uses: ./other.yml }
  broken: { strategy: { matrix: {} }, runs-on: x, steps: [{ run: x }] }
`;

  test.each([
    [{ jobName: "build" }, "build"],
    [{ jobName: "BUILD" }, "build"],
    [{ jobName: "Lint it" }, "Lint it"],
    [{ jobName: "lint it" }, "Lint it"],
    [{ jobName: "test (mac, 18)" }, "Test on mac"],
    [{ jobName: "test", matrix: { os: "linux", node: "20" } }, "Test on linux"],
    [{ jobName: "Test on linux", matrix: { NODE: "20" } }, "Test on linux"],
  ])("takes the one that %j means", (options, expected) => {
    expect(compiled(text, options).job.name).toBe(expected);
  });

  test.each([
    [{}, "ambiguous-job", /"build", "test \(linux, 18\)"/],
    [
      { jobName: "test" },
      "ambiguous-job",
      /^There are "test \(linux, 18\)", "test \(linux, 20\)", "test \(mac, 18\)", "test \(mac, 20\)"\.$/,
    ],
    [{ jobName: "Test on mac" }, "ambiguous-job", /"test \(mac, 18\)", "test \(mac, 20\)"/],
    [{ jobName: "test", matrix: { os: "linux" } }, "ambiguous-job", /"test \(linux, 18\)"/],
    [{ jobName: "test", matrix: { os: "bsd" } }, "missing-job", /"test \(linux, 18\)"/],
    [{ jobName: "test", matrix: { arch: "x" } }, "missing-job", /"test \(linux, 18\)"/],
    [{ jobName: "build", matrix: { os: "x" } }, "missing-job", /There is "build"\./],
    [{ jobName: "biuld" }, "missing-job", /^Did you mean "build"\? There are/],
    [{ jobName: "" }, "missing-job", /There are/],
    [{ jobName: "call" }, "not-supported", /Run a job of that workflow/],
    [{ jobName: "broken" }, "invalid-matrix", undefined],
  ])("cannot tell which %j means", (options, code, hint) => {
    const { job: found, diagnostics } = compile(text, options);
    expect(found).toBeUndefined();
    expect(diagnostics.map((one) => one.code)).toEqual([code]);
    if (hint !== undefined) expect(diagnostics[0]?.hint).toMatch(hint);
  });

  test("takes the only job without being told", () => {
    expect(compiled(step("run: x")).job.id).toBe("test");
  });

  test("lists what there is, with what is wrong", () => {
    const { jobs, diagnostics } = listWorkflowJobs({ name: "ci.yml", text });
    expect(jobs.map(({ id, instances, isReusable }) => [id, instances.length, isReusable])).toEqual([
      ["build", 1, false],
      ["test", 4, false],
      ["lint", 1, false],
      ["call", 1, true],
      ["broken", 0, false],
    ]);
    expect(brief(diagnostics)).toEqual(["error invalid-matrix 12"]);
  });
});

describe("inputs", () => {
  const text = `
on:
  push:
  workflow_dispatch:
    inputs:
      text: { default: 1.0 }
      flag: { type: boolean, default: true }
      off: { type: boolean }
      size: { type: number, default: 3 }
      level: { type: choice, options: [low, high], default: low }
      must: { required: true }
jobs: { a: { name: "\${{ inputs.text }}", runs-on: x, steps: [{ run: x }] } }
`;

  test("gives what the workflow declares its defaults and types", () => {
    const { job: found, definition } = compiled(text, { inputs: { must: "m", FLAG: "false", size: "4" } });
    expect(definition.github?.contexts?.["inputs"]).toEqual({
      text: "1",
      flag: false,
      off: false,
      size: 4,
      level: "low",
      must: "m",
    });
    expect(found.name).toBe("1");
  });

  test("has none of them where the event has none", () => {
    expect(compiled(text, { eventName: "push" }).definition.github?.contexts?.["inputs"]).toEqual({});
  });

  test.each([
    [{}, "missing-workflow-input", undefined],
    [{ must: "x", nope: "y" }, "unknown-workflow-input", /It takes text, flag/],
    [{ must: "x", levl: "y" }, "unknown-workflow-input", /Did you mean "level"/],
    [{ must: "x", flag: "perhaps" }, "invalid-value", undefined],
    [{ must: "x", size: "big" }, "invalid-value", undefined],
    [{ must: "x", level: "mid" }, "invalid-value", undefined],
  ])("says of %j what is wrong with it", (inputs, code, hint) => {
    const found = compile(text, { inputs }).diagnostics.filter((one) => one.code !== "changed-number");
    expect(found.map((one) => one.code)).toEqual([code]);
    if (hint !== undefined) expect(found[0]?.hint).toMatch(hint);
  });

  test("refuses inputs of a workflow that takes none", () => {
    const { diagnostics } = compile(step("run: x"), { inputs: { a: 1 } });
    expect(diagnostics.map((one) => [one.code, one.hint])).toEqual([["unknown-workflow-input", "It takes no inputs."]]);
  });
});
