import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Sql } from "../database/database.ts";
import type { Pod } from "../pod/pod.ts";

/** The most pipelines that one sweep removes. */
const BATCH = 50;
/** A file that is being received grows; one that did not for so long was left by a process that was killed. */
const LEFT_AFTER_MS = 24 * 3600 * 1000;

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
  const artifacts = await sql.query<{ object: string }>(
    "SELECT object FROM artifacts WHERE job_id = ANY ($1::bigint[])",
    [ids],
  );
  for (const { object } of artifacts) await rm(join(pod.artifactFolder, object), { force: true });
  await pod.traces.remove(sql, ids);
  await sql.query("DELETE FROM artifacts WHERE job_id = ANY ($1::bigint[])", [ids]);
  await sql.query("DELETE FROM jobs WHERE pipeline_id = $1", [id]);
  await sql.query("DELETE FROM pipelines WHERE id = $1", [id]);
  await sql.query(
    `DELETE FROM lanes l WHERE l.project_id = $1 AND NOT EXISTS (SELECT FROM jobs j WHERE j.project_id = l.project_id
       AND j.tags = l.tags AND j.protected = l.protected AND j.features = l.features)`,
    [pipeline.project_id],
  );
  return true;
}

/** Removes what killed processes have left of files that they were receiving. */
export async function removeLeftovers({ artifactFolder }: Pod): Promise<void> {
  const folder = join(artifactFolder, "incoming");
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > LEFT_AFTER_MS) await rm(path, { force: true });
  }
}
