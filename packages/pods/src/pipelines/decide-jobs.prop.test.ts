import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isFinal, type JobState } from "../jobs/job.ts";
import { decideJobs, jobsBefore, mayFail, type PlannedJob } from "./decide-jobs.ts";

const STATES: readonly JobState[] = ["created", "running", "manual", "success", "failed", "canceled", "skipped"];

interface Drawn {
  readonly stage: number;
  readonly state: JobState;
  readonly when: string;
  readonly mayFail: boolean;
  readonly needs: readonly number[] | null;
}

const drawn: fc.Arbitrary<readonly Drawn[]> = fc.array(
  fc.record({
    stage: fc.nat(3),
    state: fc.oneof({ weight: 3, arbitrary: fc.constant<JobState>("created") }, fc.constantFrom(...STATES)),
    when: fc.constantFrom("on_success", "on_failure", "always", "manual", "delayed"),
    mayFail: fc.boolean(),
    needs: fc.option(fc.array(fc.nat(9), { maxLength: 3 })),
  }),
  { minLength: 1, maxLength: 10 },
);

/** Jobs that need others of their own or of earlier stages, as GitLab allows it, in any order. */
function planOf(drawn: readonly Drawn[]): PlannedJob[] {
  const sorted = drawn.toSorted((one, other) => one.stage - other.stage);
  const rank = new Map(sorted.map((one, at) => [one, at]));
  return drawn.map((one) => {
    const own = rank.get(one) as number;
    return {
      id: own,
      name: `job ${own}`,
      stage_index: one.stage,
      state: one.state,
      run_when: one.when,
      needs: one.needs && one.needs.filter((need) => need < own).map((need) => `job ${need}`),
      allow_failure: one.mayFail,
      allow_failure_codes: null,
      exit_code: null,
    };
  });
}

/** The rule in the words of GitLab's pages, one job at a time until nothing changes. */
function byTheRule(jobs: readonly PlannedJob[]): ReadonlyMap<number, string> {
  const decided = new Map<number, string>();
  const stateOf = ({ id, state }: PlannedJob): string => decided.get(id) ?? state;
  for (let before = -1; before !== decided.size;) {
    before = decided.size;
    for (const job of jobs) {
      const { needs, run_when: when } = job;
      const isFree = (one: PlannedJob): boolean => needs === null && stateOf(one) === "manual" && one.allow_failure;
      const counted = jobsBefore(job, jobs).filter((one) => !isFree(one));
      if (stateOf(job) !== "created" || counted.some((one) => !isFinal(stateOf(one) as JobState))) continue;
      const states = counted.map((one) => (stateOf(one) === "failed" && mayFail(one) ? "success" : stateOf(one)));
      const isBroken = states.includes("failed") || states.includes("canceled");
      const runs = { manual: "manual", delayed: "scheduled" }[when] ?? "pending";
      if (when === "always") decided.set(job.id, "pending");
      else if (when === "on_failure") decided.set(job.id, states.includes("failed") ? "pending" : "skipped");
      else decided.set(job.id, isBroken || (needs !== null && states.includes("skipped")) ? "skipped" : runs);
    }
  }
  return decided;
}

describe("decideJobs()", () => {
  test("decides what the rule says, in whatever order the jobs stand", () => {
    fc.assert(
      fc.property(drawn, (drawn) => {
        const jobs = planOf(drawn);
        const sorted = (map: ReadonlyMap<number, string>): unknown => [...map].toSorted(([a], [b]) => a - b);
        expect(sorted(decideJobs(jobs))).toEqual(sorted(byTheRule(jobs)));
      }),
      { numRuns: 2_000 },
    );
  });

  test("looks at each job a few times only, also where each waits for the one that stands behind it", () => {
    const count = 5_000;
    let looks = 0;
    const jobs = Array.from({ length: count }, (_, i): PlannedJob => ({
      id: i,
      name: `${i}`,
      stage_index: i % 7,
      get state(): JobState {
        looks++;
        return i === count - 1 ? "failed" : "created";
      },
      run_when: "on_success",
      needs: i === count - 1 ? [] : [`${i + 1}`],
      allow_failure: false,
      allow_failure_codes: null,
      exit_code: null,
    }));
    expect(decideJobs(jobs).size).toBe(count - 1);
    expect(looks).toBeLessThan(20 * count);
  });
});
