import type { Sql } from "../database/database.ts";
import { type Job, isFinal, lockJob } from "../jobs/job.ts";
import { advancePipeline } from "../pipelines/advance-pipeline.ts";
import type { PlannedJob } from "../pipelines/decide-jobs.ts";
import { jobsBehind } from "../pipelines/jobs-behind.ts";
import { copyJob } from "./copy-job.ts";

/** The outcome of asking to run a job again: the id of the new one, or why there is none. */
export type Retried =
  | { readonly id: number; readonly isQueued: boolean }
  | { readonly refused: "unknown" | "not-ended" | "replaced" };

/** Runs a job that ended once more, and decides those behind it anew that did not run. */
export async function retryJob(sql: Sql, id: number): Promise<Retried> {
  const job = await lockJob(sql, id);
  if (job === undefined) return { refused: "unknown" };
  if (!isFinal(job.state)) return { refused: "not-ended" };
  const [row] = await sql.query<{ retried: boolean }>("SELECT retried FROM jobs WHERE id = $1", [id]);
  if (row === undefined || row.retried) return { refused: "replaced" };
  const copy = await copyJob(sql, id);
  await sql.query("UPDATE pipelines SET cancelled = false, state = 'running', finished_at = NULL WHERE id = $1", [
    job.pipeline_id,
  ]);
  await reviveBehind(sql, job.pipeline_id, copy);
  return { id: copy, isQueued: await advancePipeline(sql, job.pipeline_id) };
}

/** Lets jobs wait for their turn again that did not run because of a job before them, however many others stand between. */
async function reviveBehind(sql: Sql, pipelineId: number, copy: number): Promise<void> {
  const jobs = await sql.query<Pick<PlannedJob, "id" | "name" | "stage_index" | "needs">>(
    "SELECT id, name, stage_index, needs FROM jobs WHERE pipeline_id = $1 AND NOT retried",
    [pipelineId],
  );
  const job = jobs.find(({ id }) => id === copy);
  if (job === undefined) return;
  const behind = Array.from(jobsBehind(job, jobs), ({ id }) => id);
  await sql.query(
    `UPDATE jobs SET state = 'created', finished_at = NULL
     WHERE id = ANY ($1::bigint[]) AND state IN ('skipped', 'canceled') AND attempt = 0`,
    [behind],
  );
}

/** Starts a job that waits for a person or for a time. Gives the job as it was, or undefined when there is none. */
export async function playJob(sql: Sql, id: number): Promise<Job | undefined> {
  const job = await lockJob(sql, id);
  if (job === undefined || (job.state !== "manual" && job.state !== "scheduled")) return job;
  await sql.query("UPDATE jobs SET state = 'created', run_when = 'always', due_at = NULL WHERE id = $1", [id]);
  await sql.query("UPDATE pipelines SET state = 'running', finished_at = NULL WHERE id = $1", [job.pipeline_id]);
  await advancePipeline(sql, job.pipeline_id);
  return job;
}
