import type { Sql } from "../database/database.ts";
import type { Capability } from "../queue/capability.ts";
import { MAX_SLOTS, type Slot } from "../queue/claim-jobs.ts";

/** An offer that is kept for one slot while it is claimed at its pod. */
export interface Reservation {
  /** The index of the slot. */
  readonly slot: number;
  readonly job_id: number;
  readonly pod: number;
  /** The attempt that was offered. */
  readonly attempt: number;
  /** The id of the claim. It stays until the pod has answered. */
  readonly claim_id: string;
}

/** An offer whose daemon process was killed in between is free again after this time. */
const RESERVED_SECONDS = 30;

/**
 * Chooses offers for slots of one capability, at most one each, among those of these pods. The pod with the fewest jobs
 * in the hands of the daemon's runners comes first, and within a pod the project with the fewest.
 */
export async function reserveOffers(
  sql: Sql,
  { tags, runUntagged, isProtected, features }: Capability,
  slots: readonly Slot[],
  pods: readonly number[],
): Promise<Reservation[]> {
  return await sql.query<Reservation>(RESERVE, [
    tags,
    runUntagged,
    isProtected,
    features,
    slots.map(({ runnerId }) => runnerId),
    slots.map(({ runnerVersion }) => runnerVersion),
    pods,
  ]);
}

const IS_FREE = "(o.reserved_until IS NULL OR o.reserved_until < now())";

// The inner limit and the list of one lane are for the planner, as in the claim of a pod.
const RESERVE = `
WITH slots AS (
  SELECT s.slot - 1 AS slot, row_number() OVER (ORDER BY s.slot) AS turn
  FROM unnest($5::bigint[], $6::int[]) WITH ORDINALITY AS s (runner_id, version, slot)
  JOIN runners r ON r.id = s.runner_id AND r.version = s.version AND NOT r.paused
), matching AS (
  SELECT l.id, l.pod, l.project_id FROM offer_lanes l
  WHERE l.tags <@ $1::text[] AND ($2::boolean OR cardinality(l.tags) > 0) AND (l.protected OR NOT $3::boolean)
    AND l.features <@ $4::text[] AND l.pod = ANY ($7::int[])
), of_projects AS (
  SELECT pod, project_id, count(*) AS jobs FROM hands GROUP BY pod, project_id
), of_pods AS (
  SELECT pod, count(*) AS jobs FROM hands GROUP BY pod
), candidates AS (
  SELECT c.job_id, c.queued_at, m.pod,
    coalesce(h.jobs, 0) + row_number() OVER (PARTITION BY m.pod, m.project_id ORDER BY c.job_id) AS turn
  FROM matching m
  CROSS JOIN LATERAL (
    SELECT job_id, queued_at FROM (
      SELECT o.lane_id, o.job_id, o.queued_at FROM offers o
      WHERE o.lane_id = ANY (ARRAY[m.id]) AND ${IS_FREE} ORDER BY o.lane_id, o.job_id LIMIT ${MAX_SLOTS}
    ) o
    ORDER BY lane_id, job_id LIMIT (SELECT count(*) FROM slots)
  ) c
  LEFT JOIN of_projects h ON h.pod = m.pod AND h.project_id = m.project_id
), ordered AS (
  SELECT c.*, coalesce(h.jobs, 0) + row_number() OVER (PARTITION BY c.pod ORDER BY c.turn, c.queued_at, c.job_id) AS pod_turn
  FROM candidates c LEFT JOIN of_pods h ON h.pod = c.pod
), chosen AS (
  SELECT o.job_id, c.pod_turn, c.queued_at
  FROM ordered c JOIN offers o ON o.job_id = c.job_id
  WHERE ${IS_FREE}
  ORDER BY c.pod_turn, c.queued_at, o.job_id
  LIMIT (SELECT count(*) FROM slots)
  FOR UPDATE OF o SKIP LOCKED
), paired AS (
  SELECT c.job_id, s.slot
  FROM (SELECT job_id, row_number() OVER (ORDER BY pod_turn, queued_at, job_id) AS place FROM chosen) c
  JOIN slots s ON s.turn = c.place
)
UPDATE offers o SET reserved_until = now() + interval '${RESERVED_SECONDS} s',
  claim_id = coalesce(o.claim_id, gen_random_uuid()::text)
FROM paired p WHERE o.job_id = p.job_id
RETURNING p.slot::int AS slot, o.job_id, o.pod, o.attempt, o.claim_id`;

/** Notes that a runner of the daemon has the job. */
export async function noteClaimed(
  sql: Sql,
  { job_id: job, pod }: Reservation,
  projectId: number,
  runnerId: number,
): Promise<void> {
  await sql.query(
    `WITH gone AS (DELETE FROM offers WHERE job_id = $1)
     INSERT INTO hands (job_id, pod, project_id, runner_id, session)
     SELECT $1, $2, $3, $4, coalesce((SELECT session FROM links WHERE pod = $2), '')
     ON CONFLICT (job_id) DO UPDATE SET runner_id = excluded.runner_id`,
    [job, pod, projectId, runnerId],
  );
}

/** Forgets an offer that the pod does not hold to any more, unless it has made it anew. */
export async function dropOffer(sql: Sql, { job_id: job, attempt }: Reservation): Promise<void> {
  await sql.query("DELETE FROM offers WHERE job_id = $1 AND attempt <= $2", [job, attempt]);
}

/** Lets others have the offer. Its claim keeps its id, since it may have arrived. */
export async function freeOffer(sql: Sql, { job_id: job, claim_id: claim }: Reservation): Promise<void> {
  await sql.query("UPDATE offers SET reserved_until = NULL WHERE job_id = $1 AND claim_id = $2", [job, claim]);
}
