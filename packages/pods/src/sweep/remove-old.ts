import type { Sql } from "../database/database.ts";
import type { Pod } from "../pod/pod.ts";
import { removeArtifacts } from "./remove-artifacts.ts";

/** The most pipelines that one sweep removes. */
const BATCH = 50;

/**
 * Removes pipelines that ended longer ago than jobs are kept, with their jobs, traces and artifacts, and the lanes that no job of
 * the project is in any more. The files go before the rows: what a killed process has left of them is removed in the next round.
 */
export async function removePipelines(pod: Pod): Promise<void> {
  const { keepSeconds } = pod.settings;
  if (keepSeconds === undefined) return;
  const { database } = pod;
  const due = await database.query<{ id: number }>(
    `SELECT id FROM pipelines WHERE ${IS_OLD} ORDER BY id LIMIT ${BATCH}`,
    [keepSeconds],
  );
  if (due.length === 0) return;
  // A store may be slow, or down: its files go outside of the transaction, by their time, and the pipelines when they are gone.
  await database.query(
    `UPDATE artifacts SET expires_at = now() - interval '1 second' WHERE job_id IN (SELECT j.id FROM jobs j
       JOIN pipelines p ON p.id = j.pipeline_id WHERE p.id = ANY ($2::bigint[]) AND p.id IN (SELECT id FROM pipelines WHERE ${IS_OLD}))`,
    [keepSeconds, due.map(({ id }) => id)],
  );
  await removeArtifacts(pod);
  let removed = 0;
  for (const { id } of due)
    if (await database.transaction(async (sql) => await removePipeline(pod, sql, id, keepSeconds))) removed++;
  if (removed > 0) pod.settings.log("info", "Old pipelines were removed", { pipelines: removed });
}

// A pipeline whose manual jobs nobody started is as old as its creation.
const IS_OLD = `state NOT IN ('created', 'running') AND coalesce(finished_at, created_at) < now() - make_interval(secs => $1)`;

async function removePipeline(pod: Pod, sql: Sql, id: number, keepSeconds: number): Promise<boolean> {
  const [pipeline] = await sql.query<{ project_id: number }>(
    `SELECT project_id FROM pipelines WHERE ${IS_OLD} AND id = $2 FOR UPDATE`,
    [keepSeconds, id],
  );
  if (pipeline === undefined) return false;
  const jobs = await sql.query<{ id: number }>("SELECT id FROM jobs WHERE pipeline_id = $1", [id]);
  const ids = jobs.map((job) => job.id);
  const artifacts = await sql.query("SELECT FROM artifacts WHERE job_id = ANY ($1::bigint[]) LIMIT 1", [ids]);
  if (artifacts.length > 0) return false;
  await pod.traces.remove(sql, ids);
  await sql.query("DELETE FROM jobs WHERE pipeline_id = $1", [id]);
  await sql.query("DELETE FROM pipelines WHERE id = $1", [id]);
  await sql.query(
    `DELETE FROM lanes l WHERE l.project_id = $1 AND NOT EXISTS (SELECT FROM jobs j WHERE j.project_id = l.project_id
       AND j.tags = l.tags AND j.protected = l.protected AND j.features = l.features)`,
    [pipeline.project_id],
  );
  return true;
}
