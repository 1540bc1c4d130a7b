import type { Sql } from "../database/database.ts";
import type { ClaimedJob } from "../queue/claim-jobs.ts";
import type { ClaimRequest } from "./messages.ts";

/**
 * Gives jobs to runners of the daemon, each claim the job that it names or nothing, in one statement. A claim holds as long as the job is
 * pending with the attempt that was offered, and the runner may take it. One that comes again because its answer was lost gets its job
 * again, until a runner has confirmed it: with a new attempt, so that an earlier answer that did arrive is worth nothing.
 */
export async function claimOffers(
  sql: Sql,
  claims: readonly ClaimRequest[],
  leaseSeconds: number,
): Promise<ClaimedJob[]> {
  const rows = claims.map(({ runner, ...claim }, slot) => ({
    ...claim,
    slot,
    runner_id: runner.id,
    tags: runner.tags,
    run_untagged: runner.run_untagged,
    protected: runner.protected,
    maximum_timeout: runner.maximum_timeout ?? null,
    lease: claim.confirms ? leaseSeconds : leaseSeconds * 2,
  }));
  return await sql.query<ClaimedJob>(CLAIM, [JSON.stringify(rows)]);
}

const CLAIM = `
WITH asked AS (
  SELECT DISTINCT ON (r.job_id) r.* FROM jsonb_to_recordset($1::jsonb) AS r (slot int, job_id bigint, attempt int, claim_id text,
    runner_id bigint, manager_id bigint, lease int, cancels_gracefully boolean, maximum_timeout int, tags text[],
    run_untagged boolean, protected boolean, features text[])
  ORDER BY r.job_id, r.slot
), queued AS (
  SELECT q.job_id
  FROM asked a JOIN pending_jobs q ON q.job_id = a.job_id JOIN lanes l ON l.id = q.lane_id
  JOIN projects p ON p.id = l.project_id JOIN jobs j ON j.id = a.job_id
  WHERE j.attempt = a.attempt AND p.instance_runners AND l.tags <@ a.tags AND (a.run_untagged OR cardinality(l.tags) > 0)
    AND (l.protected OR NOT a.protected) AND l.features <@ a.features
  ORDER BY q.job_id
  FOR UPDATE OF q SKIP LOCKED
), taken AS (
  DELETE FROM pending_jobs q USING queued WHERE q.job_id = queued.job_id RETURNING q.job_id
), busy AS (
  SELECT project_id, count(*) AS jobs FROM active_jobs WHERE runner_kind = 1 GROUP BY project_id
), assigned AS (
  UPDATE jobs j SET
    state = 'assigned', attempt = j.attempt + 1, offers = j.offers + CASE j.state WHEN 'pending' THEN 1 ELSE 0 END,
    runner_id = a.runner_id, manager_id = a.manager_id, cancel_gracefully = a.cancels_gracefully, claim_id = a.claim_id,
    lease_expires_at = now() + make_interval(secs => a.lease), assigned_at = now(), seen_at = now(), started_at = NULL,
    granted_timeout_s = least(j.timeout_s, a.maximum_timeout)
  FROM asked a LEFT JOIN taken t ON t.job_id = a.job_id
  WHERE j.id = a.job_id AND ((t.job_id IS NOT NULL AND j.state = 'pending')
    OR (t.job_id IS NULL AND j.state = 'assigned' AND j.claim_id = a.claim_id))
  RETURNING j.*, a.slot
), counted AS (
  INSERT INTO active_jobs (job_id, project_id, runner_id, runner_kind)
  SELECT id, project_id, runner_id, 1 FROM assigned
  ON CONFLICT (job_id) DO UPDATE SET runner_id = excluded.runner_id
)
SELECT a.id, a.attempt, a.slot, a.pipeline_id, a.project_id, p.path AS project_path, p.group_ids, a.name, a.stage,
  a.granted_timeout_s AS timeout_s, extract(epoch FROM now() - a.queued_at)::float8 AS waited_s, a.payload, a.bound,
  coalesce(b.jobs, 0)::int AS active
FROM assigned a JOIN projects p ON p.id = a.project_id LEFT JOIN busy b ON b.project_id = a.project_id
ORDER BY a.slot`;
