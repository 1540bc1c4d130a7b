import type { Sql } from "../database/database.ts";
import type { Capability } from "./capability.ts";

/** A runner that waits for a job. */
export interface Slot {
  readonly runnerId: number;
  /** The version of the runner that its capability was read from. A runner that was changed since gets nothing. */
  readonly runnerVersion: number;
  readonly managerId: number;
  /** The time in seconds that the runner has to confirm the job. */
  readonly leaseSeconds: number;
  /** The runner ends a job gracefully when it is asked to. */
  readonly cancelsGracefully: boolean;
}

/** A job that was given to one of the slots: `assigned`, until the runner confirms it or the lease expires. */
export interface ClaimedJob {
  readonly id: number;
  readonly attempt: number;
  /** The index of the slot. */
  readonly slot: number;
  readonly pipeline_id: number;
  readonly project_id: number;
  readonly project_path: string;
  readonly group_ids: readonly number[];
  readonly name: string;
  readonly stage: string;
  /** The time that the job may take, in seconds. */
  readonly timeout_s: number;
  readonly waited_s: number;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly bound: Readonly<Record<string, unknown>>;
  /** The jobs of the project that instance runners have. */
  readonly active: number;
}

/**
 * Gives jobs to slots of one capability, at most one each, in one statement: whatever happens, a job is either pending or given
 * to exactly one slot. For instance runners, the project with the fewest jobs in hand comes first, and each project gets one job before
 * any gets two; others take the oldest job first.
 */
export async function claimJobs(sql: Sql, capability: Capability, slots: readonly Slot[]): Promise<ClaimedJob[]> {
  const { kind, groupId, projectIds, tags, runUntagged, isProtected, features } = capability;
  return await sql.query<ClaimedJob>(CLAIM, [
    kind,
    groupId ?? null,
    projectIds,
    tags,
    runUntagged,
    isProtected,
    features,
    slots.map(({ runnerId }) => runnerId),
    slots.map(({ runnerVersion }) => runnerVersion),
    slots.map(({ managerId }) => managerId),
    slots.map(({ leaseSeconds }) => leaseSeconds),
    slots.map(({ cancelsGracefully }) => cancelsGracefully),
  ]);
}

/** More slots than a claim ever has. */
export const MAX_SLOTS = 100;

// The inner limit is for the planner: of a limit that it does not know it expects a tenth of all pending jobs, and then reads whole
// tables. The list of one lane is for it, too: where it sees that there is only one, it takes the jobs in the order of their ids and
// passes over those of all other lanes, which for a lane behind a hundred thousand jobs takes twenty times as long as the claim. The
// rows of jobs are reached by the id alone, and those of the queue in the order of an index: a claim takes as long with a hundred
// thousand pending jobs as with ten. Rows that another claim holds are passed over, not waited for.
const CLAIM = `
WITH slots AS (
  SELECT s.runner_id, s.manager_id, s.lease_s, s.graceful, s.slot - 1 AS slot, r.maximum_timeout_s,
    row_number() OVER (ORDER BY s.slot) AS turn
  FROM unnest($8::bigint[], $9::int[], $10::bigint[], $11::int[], $12::boolean[])
    WITH ORDINALITY AS s (runner_id, version, manager_id, lease_s, graceful, slot)
  JOIN runners r ON r.id = s.runner_id AND r.version = s.version AND NOT r.paused
), matching AS (
  SELECT l.id, l.project_id
  FROM lanes l JOIN projects p ON p.id = l.project_id
  WHERE CASE $1::int
      WHEN 1 THEN p.instance_runners
      WHEN 2 THEN $2::bigint = ANY (p.group_ids)
      ELSE l.project_id = ANY ($3::bigint[]) END
    AND l.tags <@ $4::text[]
    AND ($5::boolean OR cardinality(l.tags) > 0)
    AND (l.protected OR NOT $6::boolean)
    AND l.features <@ $7::text[]
), busy AS (
  SELECT project_id, count(*) AS jobs FROM active_jobs WHERE $1::int = 1 AND runner_kind = 1 GROUP BY project_id
), candidates AS (
  SELECT c.job_id,
    CASE WHEN $1::int = 1
      THEN coalesce(b.jobs, 0) + row_number() OVER (PARTITION BY m.project_id ORDER BY c.job_id)
      ELSE 0 END AS turn
  FROM matching m
  CROSS JOIN LATERAL (
    SELECT job_id FROM (
      SELECT q.lane_id, q.job_id FROM pending_jobs q
      WHERE q.lane_id = ANY (ARRAY[m.id]) ORDER BY q.lane_id, q.job_id LIMIT ${MAX_SLOTS}
    ) q
    ORDER BY lane_id, job_id LIMIT (SELECT count(*) FROM slots)
  ) c
  LEFT JOIN busy b ON b.project_id = m.project_id
), chosen AS (
  SELECT q.job_id, c.turn
  FROM candidates c JOIN pending_jobs q ON q.job_id = c.job_id
  ORDER BY c.turn, q.job_id
  LIMIT (SELECT count(*) FROM slots)
  FOR UPDATE OF q SKIP LOCKED
), taken AS (
  DELETE FROM pending_jobs q USING chosen WHERE q.job_id = chosen.job_id RETURNING q.job_id
), paired AS (
  SELECT c.job_id, s.*
  FROM (SELECT job_id, row_number() OVER (ORDER BY turn, job_id) AS place FROM chosen) c
  JOIN taken t ON t.job_id = c.job_id
  JOIN slots s ON s.turn = c.place
), assigned AS (
  UPDATE jobs j SET
    state = 'assigned', attempt = j.attempt + 1, offers = j.offers + 1, claim_id = NULL,
    runner_id = p.runner_id, manager_id = p.manager_id, cancel_gracefully = p.graceful,
    lease_expires_at = now() + make_interval(secs => p.lease_s), assigned_at = now(), seen_at = now(), started_at = NULL,
    granted_timeout_s = least(j.timeout_s, p.maximum_timeout_s)
  FROM paired p
  WHERE j.id = p.job_id AND j.state = 'pending'
  RETURNING j.*, p.slot
), counted AS (
  INSERT INTO active_jobs (job_id, project_id, runner_id, runner_kind)
  SELECT id, project_id, runner_id, $1::int FROM assigned
)
SELECT a.id, a.attempt, a.slot::int AS slot, a.pipeline_id, a.project_id, p.path AS project_path, p.group_ids, a.name,
  a.stage, a.granted_timeout_s AS timeout_s, extract(epoch FROM now() - a.queued_at)::float8 AS waited_s, a.payload, a.bound,
  coalesce(b.jobs, 0)::int AS active
FROM assigned a JOIN projects p ON p.id = a.project_id LEFT JOIN busy b ON b.project_id = a.project_id
ORDER BY a.slot`;
