import { type JobResult, Places, runPipeline } from "@steps/pipeline";
import { describe, expect, test } from "vitest";
import { loadPipelineNow } from "../load/load-pipeline.ts";
import { plainVariables } from "../variables/collect-variables.ts";
import type { PlannedJob } from "./decide-start.ts";
import { planPipeline, type PlannedPipeline, type PlanPipelineOptions } from "./plan-pipeline.ts";
import { isGate } from "./stage-gates.ts";

const PUSH = { source: "push", ref: "main" };

function plan(
  text: string,
  { vars = {}, ...options }: Partial<PlanPipelineOptions> & { readonly vars?: Record<string, string> } = {},
): Promise<PlannedPipeline> {
  const { pipeline, diagnostics } = loadPipelineNow(
    { name: ".gitlab-ci.yml", text },
    { loadFile: () => ({ problem: "none" }), listFiles: () => [], includeRules: () => true },
  );
  expect(diagnostics).toEqual([]);
  if (pipeline === undefined) throw new Error("no pipeline");
  return planPipeline(pipeline, {
    situation: PUSH,
    sources: () => ({ pipeline: plainVariables(vars) }),
    ...options,
  });
}

interface Ran {
  readonly ran: readonly string[];
  /** The reasons of the jobs that did not run, by name. */
  readonly reasons: Readonly<Record<string, string>>;
}

async function run(planned: PlannedPipeline, failing: Readonly<Record<string, Partial<JobResult>>> = {}): Promise<Ran> {
  expect(planned.diagnostics).toEqual([]);
  const ran: string[] = [];
  const results = await runPipeline(planned.jobs, {
    places: new Places(1),
    run: ({ job }) => {
      ran.push(job.name);
      const failure = failing[job.name];
      return Promise.resolve(failure === undefined ? { status: "success" } : { status: "failure", ...failure });
    },
  });
  const left = [...results].filter(([id, { status }]) => status === "skipped" && !isGate(id));
  return { ran, reasons: Object.fromEntries(left.map(([id, { reason = "" }]) => [id, reason])) };
}

const STAGES = `
stages: [build, test, deploy]
b: {stage: build, script: x}
t1: {stage: test, script: x}
t2: {stage: test, script: x}
d: {stage: deploy, script: x}
`;

describe("planPipeline(): stages and needs", () => {
  test("planPipeline() runs a job after all stages before its own, whatever the order of the file", async () => {
    const text =
      "d: {stage: deploy, script: x}\nb: {stage: build, script: x}\np: {stage: .post, script: x}\nf: {stage: .pre, script: x}\n";
    expect((await run(await plan(text))).ran).toEqual(["f", "b", "d", "p"]);
  });

  test("planPipeline() keeps a job from running after a failure in any stage before, unless it is allowed", async () => {
    const failed = await run(await plan(STAGES), { b: {} });
    expect(failed).toEqual({
      ran: ["b"],
      reasons: {
        t1: "A job of a stage before it failed",
        t2: "A job of a stage before it failed",
        d: "A job of a stage before it failed",
      },
    });
    expect((await run(await plan(STAGES), { b: { isAllowedToFail: true } })).ran).toEqual(["b", "t1", "t2", "d"]);
  });

  test("planPipeline() starts a job with needs after those alone", async () => {
    const text = `${STAGES}e: {stage: deploy, needs: [t2], script: x}\nn: {stage: deploy, needs: [], script: x}\n`;
    const { ran, reasons } = await run(await plan(text), { t1: {} });
    expect(ran).toEqual(["n", "b", "t1", "t2", "e"]);
    expect(reasons).toEqual({ d: "A job of a stage before it failed" });
  });

  test("planPipeline() takes the name of a parallel job for all its instances, or for those of a matrix", async () => {
    const text = `
m: {stage: build, script: x, parallel: {matrix: [{OS: [linux, mac], V: ["1", "2"]}]}}
all: {needs: [m], script: x}
one: {needs: [{job: m, parallel: {matrix: [{OS: mac, V: ["1"]}]}}], script: x}
`;
    const { jobs } = await plan(text);
    const needs = Object.fromEntries(jobs.map((job) => [job.id, job.needs]));
    expect(needs["all"]).toEqual(["m: [linux, 1]", "m: [linux, 2]", "m: [mac, 1]", "m: [mac, 2]"]);
    expect(needs["one"]).toEqual(["m: [mac, 1]"]);
  });

  test("planPipeline() fills the values of an instance into the matrix of what it needs", async () => {
    const planned = await plan(`
build: {stage: build, script: b, parallel: {matrix: [{OS: [linux, mac], N: [1, 2]}]}}
test:
  script: t
  parallel: {matrix: [{OS: [linux, mac]}]}
  needs: [{job: build, parallel: {matrix: [{OS: ["$[[ matrix.OS ]]"], N: [2]}]}}]
`);
    const needs = planned.jobs.filter(({ id }) => id.startsWith("test")).map(({ id, needs: all }) => [id, all]);
    expect(needs).toEqual([
      ["test: [linux]", ["build: [linux, 2]"]],
      ["test: [mac]", ["build: [mac, 2]"]],
    ]);
  });

  test("planPipeline() refuses a need that the rules keep out, unless it is optional", async () => {
    const out = "b: {stage: build, script: x, rules: [{if: $NONE}]}\n";
    const { jobs, diagnostics } = await plan(`${out}t: {needs: [b], script: x}\n`);
    expect(jobs).toEqual([]);
    expect(diagnostics).toMatchObject([
      {
        code: "unknown-needed-job",
        message: 'The job "t" needs "b", which is not in the pipeline',
        position: { line: 2 },
      },
    ]);
    expect((await run(await plan(`${out}t: {needs: [{job: b, optional: true}], script: x}\n`))).ran).toEqual(["t"]);
  });
});

describe("planPipeline(): when", () => {
  test("planPipeline() runs on_failure jobs after a failure alone, and always jobs always", async () => {
    const text = `${STAGES}f: {stage: deploy, script: x, when: on_failure}\na: {stage: deploy, script: x, when: always}\n`;
    expect((await run(await plan(text), { t1: {} })).ran).toEqual(["b", "t1", "t2", "f", "a"]);
    expect(await run(await plan(text))).toEqual({
      ran: ["b", "t1", "t2", "d", "a"],
      reasons: { f: "No job before it failed" },
    });
  });

  test("planPipeline() skips a manual job, and all behind one that may not be left out", async () => {
    const manual = (more: string): string => `${STAGES}m: {stage: test, script: x, when: manual${more}}\n`;
    expect(await run(await plan(manual("")))).toEqual({
      ran: ["b", "t1", "t2", "d"],
      reasons: { m: "It is started by hand" },
    });
    expect(await run(await plan(manual(", allow_failure: false")))).toEqual({
      ran: ["b", "t1", "t2"],
      reasons: { m: "It waits to be started by hand", d: "A job of a stage before it did not run" },
    });
    const started = await plan(manual(", allow_failure: false"), { isStarted: ({ name }) => name === "m" });
    expect((await run(started)).ran).toEqual(["b", "t1", "t2", "m", "d"]);
  });

  test("planPipeline() does not run a job without a manual one that it needs by name", async () => {
    const text = "m: {stage: build, script: x, when: manual}\nn: {needs: [m], script: x}\n";
    expect(await run(await plan(text))).toEqual({
      ran: [],
      reasons: { m: "It is started by hand", n: '"m" did not run' },
    });
  });

  test("planPipeline() lets a delayed job wait", async () => {
    const { jobs } = await plan("d: {script: x, when: delayed, start_in: 30 minutes}\n");
    expect(await jobs[0]?.decide(new Map([["", { status: "success" }]]), { isCancelled: false })).toMatchObject({
      run: { instances: [{ name: "d", delayMs: 1_800_000 }] },
    });
  });
});

describe("planPipeline(): rules", () => {
  test("planPipeline() gives the decision about each job, with the variables that decide", async () => {
    const text = `
variables: {A: "1"}
in: {script: x, variables: {B: "2"}, rules: [{if: '$A == "1" && $B == "2" && $C == "3"', variables: {D: "4"}}]}
out: {script: x, inherit: {variables: false}, rules: [{if: $A}]}
m: {script: x, parallel: {matrix: [{V: [a, b]}]}, rules: [{if: '$V == "b"'}]}
`;
    const planned = await plan(text, { vars: { C: "3" } });
    expect([...(planned.judged?.jobs ?? [])].map(([name, { decision }]) => [name, decision.isIn])).toEqual([
      ["in", true],
      ["out", false],
      ["m: [a]", false],
      ["m: [b]", true],
    ]);
    expect((await run(planned)).ran).toEqual(["in", "m: [b]"]);
  });

  test("planPipeline() makes no pipeline that workflow:rules keep out, and its variables win over those of the file", async () => {
    const text = `
workflow: {rules: [{if: '$CI_PIPELINE_SOURCE == "web"', when: never}, {variables: {A: workflow}}]}
variables: {A: global}
a: {script: x, rules: [{if: '$A == "workflow"'}]}
`;
    expect((await run(await plan(text))).ran).toEqual(["a"]);
    const web = await plan(text, { vars: { CI_PIPELINE_SOURCE: "web" } });
    expect(web.judged?.workflow).toMatchObject({ isIn: false, reason: 'Rule 1 matches and says "when: never"' });
    expect(web.jobs).toEqual([]);
  });
});

describe("planPipeline(): what jobs hand on", () => {
  const TEXT = `
stages: [one, two, three]
a: {stage: one, script: x, artifacts: {paths: [a]}}
m: {stage: two, script: x, artifacts: {paths: [m]}, parallel: {matrix: [{V: [1, 2]}]}}
none: {stage: two, script: x}
all: {stage: three, script: x}
named: {stage: three, script: x, dependencies: [m]}
nothing: {stage: three, script: x, dependencies: []}
needs: {stage: three, script: x, needs: [{job: m, parallel: {matrix: [{V: 2}]}}, {job: a, artifacts: false}, none]}
both: {stage: three, script: x, needs: [m, a], dependencies: [a]}
first: {stage: one, script: x}
`;

  test("planPipeline() says whose artifacts a job gets: those of needs, or of all earlier stages, or of dependencies", async () => {
    const { jobs, artifactsOf, diagnostics } = await plan(TEXT);
    expect(diagnostics).toEqual([]);
    const found: Record<string, readonly string[]> = {};
    await runPipeline(jobs, {
      places: new Places(1),
      run: (work) => {
        found[work.job.name] = artifactsOf(work);
        return Promise.resolve({ status: "success" });
      },
    });
    expect(found).toMatchObject({
      first: [],
      none: ["a"],
      all: ["a", "m: [1]", "m: [2]"],
      named: ["m: [1]", "m: [2]"],
      nothing: [],
      needs: ["m: [2]"],
      both: ["a"],
    });
  });
});

describe("planPipeline(): terms", () => {
  test("planPipeline() fills variables into the name of the pipeline and into resource groups", async () => {
    const text = `
variables: {WHERE: staging, SECRET: "$NONE"}
workflow: {name: "To $WHERE by $BY", auto_cancel: {on_job_failure: all}, rules: [{variables: {BY: me}}]}
a: {script: x, resource_group: "$WHERE-$OWN", variables: {OWN: mine}}
`;
    const { name, isFailFast, jobs } = await plan(text);
    expect([name, isFailFast]).toEqual(["To staging by me", true]);
    expect(await jobs[0]?.decide(new Map(), { isCancelled: false })).toMatchObject({
      run: { instances: [{ group: "staging-mine", holdsNoPlace: false }] },
    });
  });

  test("planPipeline() lets a rule of the workflow say whether a failure cancels the others", async () => {
    const rules = "rules: [{auto_cancel: {on_job_failure: none}}]";
    const text = `workflow: {auto_cancel: {on_job_failure: all}, ${rules}}\na: {script: x}\n`;
    expect((await plan(text)).isFailFast).toBe(false);
  });

  test("planPipeline() skips a job that starts a pipeline of another project, and a child pipeline holds no place", async () => {
    const text = `
far: {stage: build, trigger: group/project}
child: {stage: build, trigger: {include: child.yml, strategy: depend, forward: {pipeline_variables: true}, inputs: {a: 1}}}
after: {script: x}
`;
    const { jobs } = await plan(text);
    expect(await jobs[0]?.decide(new Map(), { isCancelled: false })).toMatchObject({
      result: { status: "skipped", reason: expect.stringContaining('another project, "group/project"') },
    });
    expect(await jobs[1]?.decide(new Map(), { isCancelled: false })).toMatchObject({
      run: {
        instances: [
          {
            holdsNoPlace: true,
            work: {
              trigger: {
                include: ["child.yml"],
                inputs: { a: 1 },
                isDepending: true,
                forwardsJobVariables: true,
                forwardsPipelineVariables: true,
              },
            },
          },
        ],
      },
    });
    expect((await run(await plan(text))).ran).toEqual(["child", "after"]);
  });

  test("planPipeline() plans ten thousand jobs, which all get the same list of artifacts", async () => {
    const makers = Array.from({ length: 5000 }, (_, n) => `a${n}: {stage: build, script: x, artifacts: {paths: [x]}}`);
    const takers = Array.from({ length: 5000 }, (_, n) => `b${n}: {script: x}`);
    const { jobs, artifactsOf } = await plan([...makers, ...takers].join("\n"));
    const works: PlannedJob[] = [];
    await runPipeline(jobs, {
      places: new Places(100),
      run: (work) => {
        works.push(work);
        return Promise.resolve({ status: "success" });
      },
    });
    expect(works).toHaveLength(10_000);
    const lists = new Set(works.filter(({ job }) => job.stage === "test").map(artifactsOf));
    expect([...lists].map(({ length }) => length)).toEqual([5000]);
  });
});
