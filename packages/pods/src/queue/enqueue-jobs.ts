import type { Sql } from "../database/database.ts";

/**
 * Puts jobs into the queue whose state is `pending` already; within the transaction that made them so.
 *
 * @throws like a conflict of transactions when a lane was removed in between, so that this one is rolled back and repeated
 */
export async function enqueueJobs(sql: Sql, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  // A statement of its own: the next one then sees lanes that others have made in the meantime.
  await sql.query(
    `INSERT INTO lanes (project_id, tags, protected, features)
     SELECT DISTINCT project_id, tags, protected, features FROM jobs WHERE id = ANY ($1::bigint[]) ON CONFLICT DO NOTHING`,
    [ids],
  );
  const queued = await sql.query(
    `INSERT INTO pending_jobs (job_id, lane_id, queued_at)
     SELECT j.id, l.id, coalesce(j.queued_at, now())
     FROM jobs j JOIN lanes l USING (project_id, tags, protected, features)
     WHERE j.id = ANY ($1::bigint[]) AND j.state = 'pending'
     RETURNING job_id`,
    [ids],
  );
  if (queued.length !== ids.length)
    throw Object.assign(new Error("A lane of the queue was removed while jobs were added to it"), { code: "40001" });
}

/**
 * Puts a job back that was given out and reached nobody: it is pending at once, at its old place, and the offer does not count.
 * Nothing happens to a job that a runner has confirmed. Gives whether the job is pending now.
 */
export async function releaseJob(sql: Sql, id: number, attempt: number): Promise<boolean> {
  const released = await sql.query(
    `UPDATE jobs SET state = 'pending', offers = offers - 1, lease_expires_at = NULL, runner_id = NULL, manager_id = NULL
     WHERE id = $1 AND attempt = $2 AND state = 'assigned' RETURNING id`,
    [id, attempt],
  );
  if (released.length === 0) return false;
  await sql.query("DELETE FROM active_jobs WHERE job_id = $1", [id]);
  await enqueueJobs(sql, [id]);
  return true;
}
