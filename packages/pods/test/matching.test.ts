import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPipeline } from "../src/pipelines/create-pipeline.ts";
import type { JobRequest, PipelineRequest } from "../src/pipelines/pipeline-request.ts";
import { openPod, type Pod } from "../src/pod/pod.ts";
import { claimJobs, type Slot } from "../src/queue/claim-jobs.ts";
import { changeRunner, type RunnerChange } from "../src/runners/change-runner.ts";
import { createRunner, type RunnerSettings } from "../src/runners/create-runner.ts";
import { capabilityOf, findRunner, type Runner } from "../src/runners/runner.ts";
import { databaseKinds, useDatabase } from "./databases.ts";
import { emptyState } from "./pod-harness.ts";

describe.each(databaseKinds)("claims in %s", (kind) => {
  const database = useDatabase(kind);
  let pod: Pod;

  beforeAll(async () => {
    const options = database.options();
    pod = await openPod({ ...options, stateDir: await emptyState(options.databaseUrl) });
  });

  afterAll(async () => await pod.close());

  async function runner(settings: RunnerSettings): Promise<Runner> {
    const { token } = await createRunner(pod.database, 1, settings);
    return (await findRunner(pod.database, token)) as Runner;
  }

  async function queue(job: Partial<JobRequest> = {}, pipeline: Partial<PipelineRequest> = {}): Promise<number> {
    const request = { project: "group/sub/app", stages: ["test"], ...pipeline };
    const jobs = [{ name: "job", stage: "test", payload: {}, ...job }];
    const id = await createPipeline(pod.database, { ...request, jobs });
    const [row] = await pod.database.query<{ id: number }>("SELECT id FROM jobs WHERE pipeline_id = $1", [id]);
    return row?.id as number;
  }

  const slotOf = (of: Runner): Slot => ({
    runnerId: of.id,
    runnerVersion: of.version,
    managerId: 1,
    leaseSeconds: 60,
    cancelsGracefully: true,
  });

  const claim = async (of: Runner, count = 1, features: Record<string, boolean> = {}) =>
    await claimJobs(
      pod.database,
      capabilityOf(of, features),
      Array.from({ length: count }, () => slotOf(of)),
    );

  /** Nothing is left for the tests that follow. */
  const clear = async (): Promise<void> => {
    await pod.database.query("DELETE FROM pending_jobs");
    await pod.database.query("DELETE FROM active_jobs");
  };

  interface Row {
    readonly what: string;
    readonly runner: RunnerSettings;
    readonly change?: RunnerChange;
    readonly job?: Partial<JobRequest>;
    readonly project?: string;
    readonly features?: Record<string, boolean>;
    readonly takes: boolean;
  }

  const rows: readonly Row[] = [
    { what: "an instance runner, any project", runner: {}, takes: true },
    { what: "a group runner, a project in its group", runner: { group: "group" }, takes: true },
    { what: "a group runner, a project in a group below", runner: { group: "group/sub" }, takes: true },
    { what: "a group runner, a project elsewhere", runner: { group: "group" }, project: "other/app", takes: false },
    { what: "a group runner, a group whose name begins alike", runner: { group: "gro" }, takes: false },
    { what: "a project runner, its project", runner: { projects: ["group/sub/app"] }, takes: true },
    { what: "a project runner, one of its projects", runner: { projects: ["a/b", "group/sub/app"] }, takes: true },
    { what: "a project runner, another project", runner: { projects: ["group/sub/other"] }, takes: false },
    {
      what: "a project runner, a project that was added",
      runner: { projects: ["a/b"] },
      change: { add_project: "group/sub/app" },
      takes: true,
    },
    {
      what: "a locked project runner, its project",
      runner: { projects: ["group/sub/app"], isLocked: true },
      takes: true,
    },
    { what: "a locked project runner, another", runner: { projects: ["a/b"], isLocked: true }, takes: false },
    {
      what: "a protected runner, a job of a protected ref",
      runner: { isProtected: true },
      job: { protected: true },
      takes: true,
    },
    { what: "a protected runner, any other job", runner: { isProtected: true }, takes: false },
    { what: "any other runner, a job of a protected ref", runner: {}, job: { protected: true }, takes: true },
    {
      what: "a runner with all tags of the job",
      runner: { tags: ["a", "b", "c"] },
      job: { tags: ["c", "a"] },
      takes: true,
    },
    { what: "a runner with some tags of the job", runner: { tags: ["a"] }, job: { tags: ["a", "b"] }, takes: false },
    {
      what: "a runner without tags, a job with one",
      runner: { runUntagged: true },
      job: { tags: ["a"] },
      takes: false,
    },
    { what: "a tag in other letters", runner: { tags: ["Linux"] }, job: { tags: ["linux"] }, takes: false },
    { what: "a runner with tags, a job without", runner: { tags: ["a"] }, takes: false },
    { what: "a runner with tags that runs untagged jobs", runner: { tags: ["a"], runUntagged: true }, takes: true },
    { what: "a runner without tags that runs no untagged jobs", runner: { runUntagged: false }, takes: false },
    { what: "a paused runner", runner: { isPaused: true }, takes: false },
    { what: "a runner that is paused later", runner: {}, change: { paused: true }, takes: false },
    {
      what: "a runner that can do what the job needs",
      runner: {},
      job: { features: ["image"] },
      features: { image: true },
      takes: true,
    },
    {
      what: "a runner that says it cannot",
      runner: {},
      job: { features: ["image"] },
      features: { image: false },
      takes: false,
    },
    { what: "a runner that says nothing of it", runner: {}, job: { features: ["image"] }, takes: false },
  ];

  test.each(rows)("$what: $takes", async ({ runner: settings, change, job, project, features, takes }) => {
    const before = await runner(settings);
    if (change !== undefined) expect(await changeRunner(pod.database, before.id, change)).toBe("changed");
    const [row] = await pod.database.query<Runner>(
      `SELECT r.*, ARRAY(SELECT project_id FROM runner_projects WHERE runner_id = r.id ORDER BY 1) AS project_ids
       FROM runners r WHERE id = $1`,
      [before.id],
    );
    const id = await queue(job, project === undefined ? {} : { project });
    const claimed = await claim(row as Runner, 1, features);
    expect(claimed.map((one) => one.id)).toEqual(takes ? [id] : []);
    await clear();
  });

  test("a runner that was changed while it waited gets nothing by what it was", async () => {
    const before = await runner({ tags: ["secret"] });
    await queue({ tags: ["secret"] });
    await changeRunner(pod.database, before.id, { tags: [] });
    expect(await claim(before)).toEqual([]);
    await clear();
  });

  test("the shortest of the timeouts of job and runner counts", async () => {
    const short = await runner({ maximumTimeout: 60 });
    await queue({ timeout: 600 });
    expect(await claim(short)).toMatchObject([{ timeout_s: 60 }]);
    await queue({ timeout: 30 });
    expect(await claim(short)).toMatchObject([{ timeout_s: 30 }]);
    await clear();
  });

  test("a locked runner takes no further project, and one of a group none at all", async () => {
    const locked = await runner({ projects: ["a/b"], isLocked: true });
    expect(await changeRunner(pod.database, locked.id, { add_project: "c/d" })).toBe("locked");
    const group = await runner({ group: "a" });
    expect(await changeRunner(pod.database, group.id, { add_project: "c/d" })).toBe("kind");
  });

  test("an instance runner shares a batch between projects, and looks at what they have already", async () => {
    const any = await runner({});
    for (const project of ["p/one", "p/one", "p/one", "p/one", "p/two", "p/two", "p/three"])
      await queue({}, { project });
    const paths = (await claim(any, 4)).map((job) => job.project_path);
    expect(paths.toSorted()).toEqual(["p/one", "p/one", "p/three", "p/two"]);
    // One has two in hand, two has one.
    expect((await claim(any, 1)).map((job) => job.project_path)).toEqual(["p/two"]);
    expect(await claim(any, 10)).toHaveLength(2);
    await clear();
  });

  test("a flood of one project does not hold up the others: each gets its turn within as many claims as there are projects", async () => {
    const any = await runner({});
    const flood = Array.from({ length: 200 }, (_, i) => ({ name: `job ${i}`, stage: "test", payload: {} }));
    await createPipeline(pod.database, { project: "p/flood", stages: ["test"], jobs: flood });
    for (const project of ["p/a", "p/b", "p/c"]) await queue({}, { project });
    const taken = [];
    for (let i = 0; i < 4; i++) taken.push(...(await claim(any)).map((job) => job.project_path));
    expect(taken.toSorted()).toEqual(["p/a", "p/b", "p/c", "p/flood"]);
    await clear();
  });

  test("a project runner takes the oldest job first", async () => {
    const own = await runner({ projects: ["q/one", "q/two"] });
    const ids = [];
    for (const project of ["q/one", "q/one", "q/one", "q/two"]) ids.push(await queue({}, { project }));
    expect((await claim(own, 4)).map(({ id }) => id)).toEqual(ids);
    await clear();
  });

  test("claims at once give each job to one of them", async () => {
    const runners = await Promise.all(Array.from({ length: 4 }, async () => await runner({})));
    const jobs = Array.from({ length: 60 }, (_, i) => ({ name: `job ${i}`, stage: "test", payload: {} }));
    await createPipeline(pod.database, { project: "r/many", stages: ["test"], jobs });
    const all: number[] = [];
    while (all.length < 60) {
      const batches = await Promise.all(runners.map(async (one) => await claim(one, 5)));
      all.push(...batches.flat().map(({ id }) => id));
    }
    expect(new Set(all).size).toBe(60);
    const [row] = await pod.database.query<{ jobs: number; active: number }>(
      `SELECT (SELECT count(*)::int FROM jobs WHERE state = 'assigned') AS jobs, (SELECT count(*)::int FROM active_jobs) AS active`,
    );
    expect(row?.active).toBe(60);
    await clear();
  });
});
