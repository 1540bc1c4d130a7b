import type { Sql } from "../database/database.ts";
import { type Job, isFinal, lockJob } from "../jobs/job.ts";
import { finishJob } from "./finish-job.ts";

/**
 * Cancels a job. A runner that can end it gracefully is told to do so with its next call; any other is told to stop. Gives the
 * job as it was, or undefined when there is none.
 */
export async function cancelJob(sql: Sql, id: number): Promise<Job | undefined> {
  // A claim locks the row of the queue first, so this must come before the row of the job.
  await sql.query("SELECT FROM pending_jobs WHERE job_id = $1 FOR UPDATE", [id]);
  const job = await lockJob(sql, id);
  if (job === undefined || isFinal(job.state) || job.state === "canceling") return job;
  if (job.state === "running" && job.cancel_gracefully)
    await sql.query("UPDATE jobs SET state = 'canceling' WHERE id = $1", [id]);
  else await finishJob(sql, job, { state: "canceled" });
  return job;
}

/** Cancels all jobs of a pipeline that have not ended, and keeps others from starting. Gives whether there is such a pipeline. */
export async function cancelPipeline(sql: Sql, pipelineId: number): Promise<boolean> {
  await lockQueued(sql, pipelineId);
  const [pipeline] = await sql.query("UPDATE pipelines SET cancelled = true WHERE id = $1 RETURNING id", [pipelineId]);
  if (pipeline === undefined) return false;
  await sql.query(
    `UPDATE jobs SET state = 'canceled', finished_at = now()
     WHERE pipeline_id = $1 AND state IN ('created', 'scheduled', 'manual') AND NOT retried`,
    [pipelineId],
  );
  // While the pipeline was waited for, a job may have failed that is tried again: another one is in its place now.
  for (const id of await lockQueued(sql, pipelineId)) await cancelJob(sql, id);
  return true;
}

/** Locks what is in the queue of a pipeline. Gives the ids of its jobs as they are now. */
async function lockQueued(sql: Sql, pipelineId: number): Promise<readonly number[]> {
  const jobs = await sql.query<{ id: number }>(
    "SELECT id FROM jobs WHERE pipeline_id = $1 AND NOT retried ORDER BY id",
    [pipelineId],
  );
  const ids = jobs.map(({ id }) => id);
  await sql.query("SELECT FROM pending_jobs WHERE job_id = ANY ($1::bigint[]) ORDER BY job_id FOR UPDATE", [ids]);
  return ids;
}
