import { describe, expect, test } from "vitest";
import { decideJobs, type PlannedJob } from "./decide-jobs.ts";

let lastId = 0;

function job(name: string, rest: Partial<PlannedJob> = {}): PlannedJob {
  const id = ++lastId;
  return {
    id,
    name,
    stage_index: 0,
    state: "created",
    run_when: "on_success",
    needs: null,
    allow_failure: false,
    allow_failure_codes: null,
    exit_code: null,
    ...rest,
  };
}

const decide = (jobs: readonly PlannedJob[]): Readonly<Record<string, string>> => {
  const decided = decideJobs(jobs);
  return Object.fromEntries(
    jobs.flatMap(({ id, name }) => (decided.has(id) ? [[name, decided.get(id) as string]] : [])),
  );
};

/** The decision about one job of the second stage, behind these of the first. */
const behind = (before: readonly Partial<PlannedJob>[], rest: Partial<PlannedJob> = {}): string | undefined =>
  decide([...before.map((one, i) => job(`before${i}`, one)), job("it", { stage_index: 1, ...rest })])["it"];

describe("decideJobs()", () => {
  test("starts all jobs of the first stage, and those that need nothing", () => {
    const jobs = [job("a"), job("b"), job("later", { stage_index: 1 }), job("free", { stage_index: 2, needs: [] })];
    expect(decide(jobs)).toEqual({ a: "pending", b: "pending", free: "pending" });
  });

  test.each([
    ["success", "on_success", "pending"],
    ["failed", "on_success", "skipped"],
    ["canceled", "on_success", "skipped"],
    ["skipped", "on_success", "pending"],
    ["success", "on_failure", "skipped"],
    ["failed", "on_failure", "pending"],
    ["canceled", "on_failure", "skipped"],
    ["success", "always", "pending"],
    ["failed", "always", "pending"],
    ["canceled", "always", "pending"],
    ["success", "manual", "manual"],
    ["failed", "manual", "skipped"],
    ["success", "delayed", "scheduled"],
    ["running", "always", undefined],
    ["canceling", "on_success", undefined],
    ["pending", "on_failure", undefined],
  ] as const)("behind a stage that is %s, a job that runs %s is %s", (state, when, decided) => {
    expect(behind([{ state }], { run_when: when })).toBe(decided);
  });

  test("does not count a failure that is allowed, whole or by its exit code", () => {
    const failed = { state: "failed", exit_code: 3 } as const;
    expect(behind([{ ...failed, allow_failure: true }])).toBe("pending");
    expect(behind([{ ...failed, allow_failure_codes: [3, 4] }])).toBe("pending");
    expect(behind([{ ...failed, allow_failure_codes: [4] }])).toBe("skipped");
    expect(behind([{ ...failed, allow_failure: true }], { run_when: "on_failure" })).toBe("skipped");
  });

  test("waits for a manual job, unless it may fail and is not needed", () => {
    const manual = { state: "manual" } as const;
    expect(behind([manual])).toBeUndefined();
    expect(behind([{ ...manual, allow_failure: true }, { state: "success" }])).toBe("pending");
    expect(behind([{ ...manual, allow_failure: true }], { needs: ["before0"] })).toBeUndefined();
  });

  test("skips a job whose need was skipped, and those behind it at once", () => {
    const jobs = [
      job("failed", { state: "failed" }),
      job("a", { stage_index: 1, needs: ["failed"] }),
      job("b", { stage_index: 2, needs: ["a"] }),
      job("clean", { stage_index: 2, needs: ["b"], run_when: "always" }),
    ];
    expect(decide(jobs)).toEqual({ a: "skipped", b: "skipped", clean: "pending" });
  });

  test("does not wait for other jobs of earlier stages when a job has needs", () => {
    const jobs = [
      job("fast", { state: "success" }),
      job("slow", { state: "running" }),
      job("it", { stage_index: 1, needs: ["fast"] }),
      job("other", { stage_index: 1 }),
    ];
    expect(decide(jobs)).toEqual({ it: "pending" });
  });
});
