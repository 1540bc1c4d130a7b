import { describe, expect, test } from "vitest";
import { type JobResult, Places, runPipeline } from "@steps/pipeline";
import { planWorkflow } from "./plan-workflow.ts";
import type { WorkflowWork } from "./workflow-work.ts";

const success: JobResult = { status: "success" };
const failure: JobResult = { status: "failure" };

interface Ran {
  readonly ran: string[];
  readonly results: Record<string, JobResult>;
  readonly work: WorkflowWork[];
  readonly outputs: Record<string, string>;
}

/** Runs a workflow whose instances end as the test says; all others succeed. */
async function runWorkflow(
  jobs: string,
  ends: Readonly<Record<string, JobResult>> = {},
  head = "on: push",
): Promise<Ran> {
  const plan = planWorkflow({ source: { name: "ci.yml", text: `${head}\njobs:\n${jobs}` }, vars: { V: "1" } });
  expect(plan.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  const ran: string[] = [];
  const work: WorkflowWork[] = [];
  const results = await runPipeline(plan.jobs, {
    places: new Places(1),
    run: (one) => {
      const name = one.kind === "steps" ? one.jobName : one.jobId;
      ran.push(name);
      work.push(one);
      return Promise.resolve({ ...(ends[name] ?? success), isAllowedToFail: one.isAllowedToFail });
    },
  });
  return { ran, work, results: Object.fromEntries(results), outputs: plan.outputsOf(results) };
}

const job = (id: string, more = ""): string => `  ${id}:\n    runs-on: x\n    steps: [{run: "true"}]\n${more}`;

describe("planWorkflow()", () => {
  test("skips what needs a job that did not succeed, and all behind it", async () => {
    const { ran, results } = await runWorkflow(
      job("a") + job("b", "    needs: a\n") + job("c", "    needs: [b]\n") + job("d"),
      { a: failure },
    );
    expect(ran).toEqual(["a", "d"]);
    expect(results["b"]).toEqual({
      status: "skipped",
      reason: 'It needs jobs that did not succeed: "a" ended as failure',
    });
    expect(results["c"]?.status).toBe("skipped");
  });

  test("asks a condition with the status of all jobs before it and with their outputs", async () => {
    const jobs =
      job("a") +
      job("b", "    needs: A\n    if: always()\n") +
      job("on-failure", "    needs: b\n    if: failure()\n") +
      job("on-success", "    needs: b\n") +
      job("by-output", "    needs: [a, b]\n    if: always() && needs.b.outputs.go == 'yes' && vars.V == '1'\n") +
      job("not", "    if: vars.V == '2'\n");
    const { ran, results, work } = await runWorkflow(jobs, { a: failure, b: { ...success, outputs: { go: "yes" } } });
    expect(ran).toEqual(["a", "b", "on-failure", "by-output"]);
    expect(results["not"]?.reason).toMatch(/^Its condition does not hold: /);
    expect(work.at(-1)?.needs).toEqual({
      a: { result: "failure", outputs: {} },
      b: { result: "success", outputs: { go: "yes" } },
    });
  });

  test("makes a matrix of the outputs of another job", async () => {
    const jobs =
      job("list") +
      job(
        "m",
        "    needs: list\n    strategy: {max-parallel: 2, matrix: {n: '${{ fromJSON(needs.list.outputs.all) }}'}}\n",
      ) +
      job("wrong", "    needs: list\n    strategy: {matrix: {n: '${{ fromJSON(needs.list.outputs.none) }}'}}\n");
    const { ran, results } = await runWorkflow(jobs, { list: { ...success, outputs: { all: '["a", "b"]' } } });
    expect(ran).toEqual(["list", "m (a)", "m (b)"]);
    expect(results["wrong"]).toMatchObject({ status: "failure", reason: expect.stringContaining("ci.yml:") as string });
  });

  test("takes an allowed failure for a success", async () => {
    const jobs =
      job("m", "    strategy: {matrix: {n: [1, 2]}}\n    continue-on-error: ${{ matrix.n == 1 }}\n") +
      job("after", "    needs: m\n");
    const { ran } = await runWorkflow(jobs, { "m (1)": failure });
    expect(ran).toEqual(["m (1)", "m (2)", "after"]);
  });

  test("cancels the other instances of a matrix at the first failure unless fail-fast is false", async () => {
    const matrix = (failFast: string): string => job("m", `    strategy: {${failFast}matrix: {n: [1, 2]}}\n`);
    expect((await runWorkflow(matrix(""), { "m (1)": failure })).ran).toEqual(["m (1)"]);
    expect((await runWorkflow(matrix("fail-fast: false, "), { "m (1)": failure })).ran).toEqual(["m (1)", "m (2)"]);
  });

  test("gives the call of another workflow its inputs and secrets, and the caller its outputs", async () => {
    const call =
      "  call:\n    uses: ./.github/workflows/x.yml\n    with: {a: '${{ vars.V }}', b: true}\n    secrets: {TOKEN: '${{ secrets.T }}'}\n";
    const head = "on:\n  workflow_call:\n    outputs:\n      version: {value: '${{ jobs.call.outputs.v }}'}";
    const { work, outputs } = await runWorkflow(call, { call: { ...success, outputs: { v: "1.2" } } }, head);
    expect(work).toEqual([
      {
        kind: "call",
        jobId: "call",
        group: undefined,
        isAllowedToFail: false,
        needs: {},
        uses: "./.github/workflows/x.yml",
        inputs: { a: "1", b: true },
        secrets: { TOKEN: "${{ secrets.T }}" },
      },
    ]);
    expect(outputs).toEqual({ version: "1.2" });
  });

  test("gives jobs of one concurrency group one after the other", () => {
    const source = {
      name: "ci.yml",
      text: `on: push\njobs:\n${job("a", "    concurrency: {group: 'Deploy-${{ vars.V }}'}\n")}`,
    };
    const { jobs } = planWorkflow({ source, vars: { V: "1" } });
    expect(jobs[0]?.decide(new Map(), { isCancelled: false })).toMatchObject({
      run: { instances: [{ name: "a", group: "deploy-1" }] },
    });
  });

  test("plans nothing of a file with errors", () => {
    const plan = planWorkflow({ source: { name: "ci.yml", text: `on: push\njobs:\n${job("a", "    needs: b\n")}` } });
    expect(plan.jobs).toEqual([]);
    expect(plan.diagnostics.map(({ code }) => code)).toContain("missing-job");
  });

  test("says what a call leaves out or gives too much, and what cannot be called", () => {
    const plan = (text: string): ReturnType<typeof planWorkflow> => planWorkflow({ source: { name: "w.yml", text } });
    const { calls } = plan(
      "on: push\njobs: {c: {uses: o/r/.github/workflows/x.yml@v1, with: {Given: 1, no: 2}, secrets: {S: '1'}}}",
    );
    const [call] = calls;
    expect(call?.reference).toMatchObject({ kind: "repository", repository: "o/r", version: "v1" });
    const job = "jobs: {a: {runs-on: x, steps: [{run: 'true'}]}}";
    const { callable } = plan(
      `on: {workflow_call: {inputs: {given: {type: string}, more: {type: string, required: true}}, secrets: {t: {required: true}}}}\n${job}`,
    );
    expect(call?.check(callable).map(({ message }) => message)).toEqual([
      'The workflow requires the input "more"',
      'The workflow requires the secret "t"',
      'The workflow has no input "no"',
      'The workflow has no secret "S"',
    ]);
    expect(call?.check(plan(`on: push\n${job}`).callable)).toMatchObject([{ code: "invalid-call", severity: "error" }]);
  });

  test("gives the inputs of a call their defaults, which may be expressions", async () => {
    const text = `on:
  push:
  workflow_dispatch: {inputs: {a: {default: dispatched}}}
  workflow_call: {inputs: {a: {type: string, default: "\${{ vars.V }}"}, n: {type: number, default: 2}}}
jobs:
${job("j", "    if: inputs.a == '1' && inputs.n == 2\n")}`;
    const plan = planWorkflow({
      source: { name: "w.yml", text },
      vars: { V: "1" },
      eventName: "push",
      isCalled: true,
      inputs: {},
    });
    expect(await plan.jobs[0]?.decide(new Map(), { isCancelled: false })).toHaveProperty("run");
  });

  test("decides a chain of many jobs in time that grows with it", async () => {
    const text = Array.from({ length: 1000 }, (_, i) => job(`j${i}`, i === 0 ? "" : `    needs: j${i - 1}\n`)).join("");
    const { ran } = await runWorkflow(text, { j998: failure });
    expect(ran.length).toBe(999);
  });

  test("names the group of the workflow, and lets no job wait for a group that it or a caller holds", async () => {
    const text = `on: push\nconcurrency: {group: 'W-\${{ vars.V }}'}\njobs:\n${job("a", "    concurrency: w-1\n")}${job("b", "    concurrency: Outer\n")}${job("c", "    concurrency: c\n")}`;
    const plan = planWorkflow({ source: { name: "w.yml", text }, vars: { V: "1" }, heldGroups: new Set(["outer"]) });
    expect(plan.group).toBe("w-1");
    const decided = await Promise.all(plan.jobs.map(({ decide }) => decide(new Map(), { isCancelled: false })));
    expect(decided).toMatchObject([
      { result: { status: "failure", reason: expect.stringContaining('group "w-1"') as string } },
      { result: { status: "failure", reason: expect.stringContaining('group "outer"') as string } },
      { run: { instances: [{ group: "c" }] } },
    ]);
  });
});
