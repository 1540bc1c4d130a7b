import type { Sql } from "../database/database.ts";
import { isFinal, type JobState } from "../jobs/job.ts";
import { enqueueJobs } from "../queue/enqueue-jobs.ts";
import { bindJobs } from "./bind-jobs.ts";
import { type Decided, decideJobs, mayFail, type PlannedJob } from "./decide-jobs.ts";

/** The state of a pipeline as a whole. */
type PipelineState = "created" | "running" | "manual" | "success" | "failed" | "canceled" | "skipped";

/**
 * Moves the jobs of a pipeline on whose turn has come, and the pipeline itself; in the transaction that changed one of its jobs
 * and that has locked the pipeline. Gives whether jobs were added to the queue.
 */
export async function advancePipeline(sql: Sql, pipelineId: number): Promise<boolean> {
  const jobs = await sql.query<PlannedJob>(
    `SELECT id, name, stage_index, state, run_when, needs, allow_failure, allow_failure_codes, exit_code
     FROM jobs WHERE pipeline_id = $1 AND NOT retried ORDER BY position, id`,
    [pipelineId],
  );
  const decided = decideJobs(jobs);
  const idsOf = (state: Decided): number[] => [...decided].filter(([, to]) => to === state).map(([id]) => id);
  const pending = idsOf("pending");
  await setStates(sql, idsOf);
  await bindJobs(sql, pipelineId, [...pending, ...idsOf("scheduled"), ...idsOf("manual")]);
  await enqueueJobs(sql, pending);
  const states = jobs.map((job) => ({ ...job, state: decided.get(job.id) ?? job.state }));
  await sql.query(
    `UPDATE pipelines SET state = $2, finished_at = CASE WHEN $3::boolean THEN coalesce(finished_at, now()) END
     WHERE id = $1`,
    [pipelineId, stateOf(states), states.every(({ state }) => isFinal(state))],
  );
  return pending.length > 0;
}

async function setStates(sql: Sql, idsOf: (state: Decided) => number[]): Promise<void> {
  const pending = idsOf("pending");
  if (pending.length > 0)
    await sql.query("UPDATE jobs SET state = 'pending', queued_at = now() WHERE id = ANY ($1::bigint[])", [pending]);
  const scheduled = idsOf("scheduled");
  if (scheduled.length > 0)
    await sql.query(
      `UPDATE jobs SET state = 'scheduled', due_at = now() + make_interval(secs => coalesce(start_in_s, 0))
       WHERE id = ANY ($1::bigint[])`,
      [scheduled],
    );
  const manual = idsOf("manual");
  if (manual.length > 0) await sql.query("UPDATE jobs SET state = 'manual' WHERE id = ANY ($1::bigint[])", [manual]);
  const skipped = idsOf("skipped");
  if (skipped.length > 0)
    await sql.query("UPDATE jobs SET state = 'skipped', finished_at = now() WHERE id = ANY ($1::bigint[])", [skipped]);
}

function stateOf(jobs: readonly PlannedJob[]): PipelineState {
  const states = new Set<JobState>(jobs.map((job) => (job.state === "failed" && mayFail(job) ? "success" : job.state)));
  if ([...states].every(isFinal)) {
    if (states.has("failed")) return "failed";
    if (states.has("canceled")) return "canceled";
    return states.has("success") || states.size === 0 ? "success" : "skipped";
  }
  const isWaiting = [...states].every((state) => isFinal(state) || state === "manual" || state === "created");
  if (isWaiting && states.has("manual")) return isOptional(jobs) ? endOf(states) : "manual";
  return "running";
}

/** A pipeline is over when only manual jobs are left that nobody waits for. */
function isOptional(jobs: readonly PlannedJob[]): boolean {
  return jobs.every(({ state, allow_failure }) => isFinal(state) || (state === "manual" && allow_failure));
}

function endOf(states: ReadonlySet<JobState>): PipelineState {
  return states.has("failed") ? "failed" : states.has("canceled") ? "canceled" : "success";
}
