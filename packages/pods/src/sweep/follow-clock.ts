import type { Database, Sql } from "../database/database.ts";
import { IS_IN_HAND } from "../jobs/accept-job.ts";

/** A clock that is set by less is not noticed; a busy machine is late by less. */
const STEP_SECONDS = 60;
/** An answer that took longer says too little about the time. */
const ANSWER_SECONDS = 5;

/**
 * Notices when the clock of the database is set, or goes on after it stood still with its machine, and moves the times of jobs with it:
 * because of that, no lease, no silence and no timeout ends sooner or later.
 */
export class ClockFollower {
  #offset: number | undefined;

  /** Looks at the clock; called now and then. Gives by how many seconds it was set, if it was. */
  async look(database: Database): Promise<number | undefined> {
    const before = performance.now() / 1000;
    const [row] = await database.query<{ now: number }>("SELECT extract(epoch FROM clock_timestamp())::float8 AS now");
    const elapsed = performance.now() / 1000;
    if (row === undefined || elapsed - before > ANSWER_SECONDS) return undefined;
    const known = this.#offset;
    this.#offset = row.now - elapsed;
    const step = this.#offset - (known ?? this.#offset);
    if (Math.abs(step) < STEP_SECONDS) return undefined;
    const isMoved = await database.transaction(async (sql) => await moveTimes(sql, step));
    return isMoved ? step : undefined;
  }
}

// Times that were noted since the clock was set are close to its time now; all others were noted before.
const isOld = (column: string): string =>
  `${column} NOT BETWEEN now() - interval '30 seconds' AND now() + interval '10 seconds'`;
const moved = (column: string): string =>
  `${column} = CASE WHEN ${isOld(column)} THEN ${column} + make_interval(secs => $1) ELSE ${column} END`;

async function moveTimes(sql: Sql, step: number): Promise<boolean> {
  // The first process that notices a step notes the time, and the others find it.
  const first = await sql.query(
    `INSERT INTO counters (name, value) VALUES ('clock_followed_at', extract(epoch FROM now())::bigint)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value
     WHERE abs(counters.value - excluded.value) > ${STEP_SECONDS} RETURNING name`,
  );
  if (first.length === 0) return false;
  await sql.query(
    `UPDATE jobs SET ${moved("queued_at")}, ${moved("assigned_at")}, ${moved("started_at")}, ${moved("seen_at")}, lease_expires_at =
       CASE WHEN ${isOld("seen_at")} THEN lease_expires_at + make_interval(secs => $1) ELSE lease_expires_at END
     WHERE ${IS_IN_HAND}`,
    [step],
  );
  await sql.query(`UPDATE pending_jobs SET ${moved("queued_at")}`, [step]);
  return true;
}
