import { isFinal, type JobState } from "../jobs/job.ts";

/** The part of a job that its turn depends on. */
export interface PlannedJob {
  readonly id: number;
  readonly name: string;
  readonly stage_index: number;
  readonly state: JobState;
  readonly run_when: string;
  /** The names of the jobs that it waits for. Null: all jobs of earlier stages. */
  readonly needs: readonly string[] | null;
  readonly allow_failure: boolean;
  readonly allow_failure_codes: readonly number[] | null;
  readonly exit_code: number | null;
}

/** The state that a job goes to from `created`. */
export type Decided = "pending" | "scheduled" | "manual" | "skipped";

/**
 * Decides all jobs whose turn has come, as GitLab does: a job is looked at when those before it have ended, and its `when` says
 * with which of their results it runs. A job that is skipped may decide others at once. The time grows with the jobs and their needs,
 * in whatever order they stand.
 */
export function decideJobs(jobs: readonly PlannedJob[]): ReadonlyMap<number, Decided> {
  const decided = new Map<number, Decided>();
  const stateOf = (job: PlannedJob): JobState => decided.get(job.id) ?? job.state;
  const needs = followNeeds(jobs, stateOf);
  const before = new Set<JobState>();
  const decideThese = (these: readonly PlannedJob[]): void => {
    const due = [...these];
    for (let job = due.pop(); job !== undefined; job = due.pop()) {
      if (stateOf(job) !== "created") continue;
      const states = job.needs === null ? before : needs.statesBefore(job);
      if (states === undefined) continue;
      decided.set(job.id, decide(job, resultOf(states, job.needs !== null)));
      for (const one of needs.behind(job)) due.push(one);
    }
  };
  decideThese(jobs.filter((job) => job.needs !== null));
  for (const stage of stagesOf(jobs)) {
    decideThese(stage.filter((job) => job.needs === null));
    // A manual job that may fail holds nobody up, except for those that need it by name.
    const counted = stage.filter((job) => stateOf(job) !== "manual" || !job.allow_failure);
    if (counted.some((job) => !isFinal(stateOf(job)))) break;
    for (const job of counted) before.add(countedState(job, stateOf(job)));
  }
  return decided;
}

function stagesOf(jobs: readonly PlannedJob[]): (readonly PlannedJob[])[] {
  const stages = Map.groupBy(jobs, ({ stage_index: index }) => index);
  return [...stages].toSorted(([one], [other]) => one - other).map(([, stage]) => stage);
}

/** The jobs with needs, followed in both directions. */
interface Needs {
  /** The states in which the jobs ended that a job needs; undefined while one of them has not. */
  readonly statesBefore: (job: PlannedJob) => ReadonlySet<JobState> | undefined;
  /** The jobs that need a job. */
  readonly behind: (job: PlannedJob) => readonly PlannedJob[];
}

function followNeeds(jobs: readonly PlannedJob[], stateOf: (job: PlannedJob) => JobState): Needs {
  const named = new Map(jobs.map((job) => [job.name, job]));
  const before = new Map<PlannedJob, readonly PlannedJob[]>();
  const behind = new Map<PlannedJob, PlannedJob[]>();
  for (const job of jobs) {
    const needed = (job.needs ?? []).flatMap((name) => named.get(name) ?? []).filter((one) => one !== job);
    before.set(job, needed);
    for (const one of needed) {
      const known = behind.get(one);
      if (known === undefined) behind.set(one, [job]);
      else known.push(job);
    }
  }
  // Nothing changes a state that is final: those that were seen need no second look.
  const seen = new Map<PlannedJob, number>();
  return {
    statesBefore(job) {
      const needed = before.get(job) ?? [];
      let ended = seen.get(job) ?? 0;
      while (ended < needed.length && isFinal(stateOf(needed[ended] as PlannedJob))) ended++;
      seen.set(job, ended);
      if (ended < needed.length) return undefined;
      return new Set(needed.map((one) => countedState(one, stateOf(one))));
    },
    behind: (job) => behind.get(job) ?? [],
  };
}

/** The jobs that a job waits for. */
export function jobsBefore<J extends PlannedJob>(job: PlannedJob, jobs: readonly J[]): J[] {
  const { needs } = job;
  return jobs.filter((other) =>
    needs === null ? other.stage_index < job.stage_index : other.id !== job.id && needs.includes(other.name),
  );
}

/** Whether a failure of the job does not count. */
export function mayFail({ allow_failure, allow_failure_codes, exit_code }: PlannedJob): boolean {
  return allow_failure || (exit_code !== null && allow_failure_codes?.includes(exit_code) === true);
}

type Result = "success" | "failed" | "canceled" | "skipped";

function countedState(job: PlannedJob, state: JobState): JobState {
  return state === "failed" && mayFail(job) ? "success" : state;
}

function resultOf(states: ReadonlySet<JobState>, isNeeded: boolean): Result {
  if (states.has("failed")) return "failed";
  if (states.has("canceled")) return "canceled";
  if (states.has("skipped") && (isNeeded || !states.has("success"))) return "skipped";
  return "success";
}

function decide({ run_when, needs }: PlannedJob, result: Result): Decided {
  // A job goes on behind a stage that was skipped, but not without a job that it needs.
  const isFine = result === "success" || (result === "skipped" && needs === null);
  if (run_when === "always") return "pending";
  if (run_when === "on_failure") return result === "failed" ? "pending" : "skipped";
  if (!isFine) return "skipped";
  if (run_when === "manual") return "manual";
  return run_when === "delayed" ? "scheduled" : "pending";
}
