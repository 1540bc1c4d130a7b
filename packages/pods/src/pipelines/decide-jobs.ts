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
 * with which of their results it runs. A job that is skipped may decide others at once.
 */
export function decideJobs(jobs: readonly PlannedJob[]): ReadonlyMap<number, Decided> {
  const decided = new Map<number, Decided>();
  const stateOf = (job: PlannedJob): JobState => decided.get(job.id) ?? job.state;
  for (let before = -1; before !== decided.size;) {
    before = decided.size;
    for (const job of jobs) {
      if (stateOf(job) !== "created") continue;
      const result = resultOf(jobsBefore(job, jobs), job.needs !== null, stateOf);
      if (result !== undefined) decided.set(job.id, decide(job, result));
    }
  }
  return decided;
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

function resultOf(
  jobs: readonly PlannedJob[],
  isNeeded: boolean,
  stateOf: (job: PlannedJob) => JobState,
): Result | undefined {
  // A manual job that may fail holds nobody up, except for those that need it by name.
  const counted = jobs.filter((job) => stateOf(job) !== "manual" || isNeeded || !job.allow_failure);
  if (counted.some((job) => !isFinal(stateOf(job)))) return undefined;
  const states = new Set(counted.map((job) => (stateOf(job) === "failed" && mayFail(job) ? "success" : stateOf(job))));
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
