import type { Sql } from "../database/database.ts";
import type { JobState } from "./job.ts";

/** The assignments by which a runner's word on its job turns `assigned` into `running`, once, and is noted at any time. */
export const ACCEPTED = `
  state = CASE WHEN state = 'assigned' THEN 'running' ELSE state END, accepted_attempt = attempt,
  started_at = coalesce(started_at, now()), lease_expires_at = NULL, seen_at = now()`;

/** The condition that a runner has the job. */
export const IS_IN_HAND = `state IN ('assigned', 'running', 'canceling')`;

/** The condition that the attempt is the one that counts. */
const IN_HAND = `id = $1 AND attempt = $2 AND ${IS_IN_HAND}`;

/** Notes that a runner has the job. Gives its state, or undefined when this attempt does not count any more. */
export async function acceptJob(sql: Sql, id: number, attempt: number): Promise<JobState | undefined> {
  const [row] = await sql.query<{ state: JobState }>(`UPDATE jobs SET ${ACCEPTED} WHERE ${IN_HAND} RETURNING state`, [
    id,
    attempt,
  ]);
  return row?.state;
}

/** The time in seconds that a runner may prepare before it starts. */
const PREPARE_LIMIT = 3600;

/** Extends the lease of a job that its runner prepares. Gives its state, or undefined when this attempt does not count any more. */
export async function extendLease(
  sql: Sql,
  id: number,
  attempt: number,
  seconds: number,
): Promise<JobState | undefined> {
  const [row] = await sql.query<{ state: JobState }>(
    `UPDATE jobs SET seen_at = now(), lease_expires_at = CASE WHEN state = 'assigned'
       THEN least(now() + make_interval(secs => $3), assigned_at + make_interval(secs => ${PREPARE_LIMIT})) END
     WHERE ${IN_HAND} RETURNING state`,
    [id, attempt, seconds],
  );
  return row?.state;
}
