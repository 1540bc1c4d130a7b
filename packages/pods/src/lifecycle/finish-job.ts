import type { Sql } from "../database/database.ts";
import type { Job } from "../jobs/job.ts";
import { advancePipeline } from "../pipelines/advance-pipeline.ts";
import { copyJob } from "./copy-job.ts";

/** How a job ended. */
export interface Ending {
  readonly state: "success" | "failed" | "canceled";
  readonly reason?: string | undefined;
  readonly exitCode?: number | undefined;
  /** The trace that was kept is not the one that the runner sent. */
  readonly isTraceDamaged?: boolean | undefined;
}

/**
 * Ends a job that was locked with its pipeline: for good, since nothing changes a final state. A job that may be tried again
 * gets a copy in its place. Gives whether jobs were added to the queue.
 */
export async function finishJob(sql: Sql, job: Job, ending: Ending): Promise<boolean> {
  const [row] = await sql.query<{ retry_max: number; retry_when: readonly string[] | null; tried: number }>(
    `UPDATE jobs SET state = $2, failure_reason = $3, exit_code = $4, trace_damaged = $5, finished_at = now(),
       lease_expires_at = NULL, seen_at = now()
     WHERE id = $1 RETURNING retry_max, retry_when, tried`,
    [job.id, ending.state, ending.reason ?? null, ending.exitCode ?? null, ending.isTraceDamaged ?? false],
  );
  await sql.query("DELETE FROM active_jobs WHERE job_id = $1", [job.id]);
  await sql.query("DELETE FROM pending_jobs WHERE job_id = $1", [job.id]);
  const [pipeline] = await sql.query<{ cancelled: boolean }>("SELECT cancelled FROM pipelines WHERE id = $1", [
    job.pipeline_id,
  ]);
  if (row !== undefined && pipeline?.cancelled === false && isTriedAgain(row, ending)) await copyJob(sql, job.id);
  return await advancePipeline(sql, job.pipeline_id);
}

function isTriedAgain(
  job: { readonly retry_max: number; readonly retry_when: readonly string[] | null; readonly tried: number },
  { state, reason = "unknown_failure" }: Ending,
): boolean {
  if (state !== "failed" || job.tried > job.retry_max) return false;
  return job.retry_when === null || job.retry_when.includes("always") || job.retry_when.includes(reason);
}
