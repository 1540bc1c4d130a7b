import type { Sql } from "../database/database.ts";

/** The columns that define a job, as opposed to those that record its course. */
const DEFINITION = `pipeline_id, project_id, name, stage, stage_index, position, run_when, start_in_s, needs, dependencies,
  allow_failure, allow_failure_codes, retry_max, retry_when, tags, protected, features, timeout_s, payload`;

/** Puts a new job in the place of one that ended; it is `created`, so that its turn is decided anew. Gives the new id. */
export async function copyJob(sql: Sql, id: number): Promise<number> {
  const [copy] = await sql.query<{ id: number }>(
    `INSERT INTO jobs (id, state, tried, ${DEFINITION})
     SELECT nextval('job_ids'), 'created', tried + 1, ${DEFINITION} FROM jobs WHERE id = $1 RETURNING id`,
    [id],
  );
  await sql.query("UPDATE jobs SET retried = true WHERE id = $1", [id]);
  return copy?.id as number;
}
