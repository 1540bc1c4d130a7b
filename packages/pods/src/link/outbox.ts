import { DAEMON_NUMBER, idsOf } from "@steps/pod-tokens";
import type { Database, Sql } from "../database/database.ts";
import type { JobNews } from "./messages.ts";

const TRIGGERS = [
  ["note_queued", "INSERT ON pending_jobs REFERENCING NEW TABLE AS changed"],
  ["note_unqueued", "DELETE ON pending_jobs REFERENCING OLD TABLE AS changed"],
  ["note_ended", "DELETE ON active_jobs REFERENCING OLD TABLE AS changed"],
] as const;

/**
 * Has each transaction that changes the queue write down whose offers it changed, or ends that. A pod without a daemon has no such triggers
 * and pays nothing.
 */
export async function switchOutbox(database: Database, isOn: boolean): Promise<void> {
  await database.transaction(async (sql) => {
    const there = await sql.query("SELECT FROM pg_trigger WHERE tgname = ANY ($1)", [TRIGGERS.map(([name]) => name)]);
    if (there.length === (isOn ? TRIGGERS.length : 0)) return;
    for (const [name, event] of TRIGGERS) {
      const table = event.includes("active_jobs") ? "active_jobs" : "pending_jobs";
      await sql.query(
        isOn
          ? `CREATE OR REPLACE TRIGGER ${name} AFTER ${event} FOR EACH STATEMENT EXECUTE FUNCTION note_changed_jobs()`
          : `DROP TRIGGER IF EXISTS ${name} ON ${table}`,
      );
    }
    if (!isOn) await sql.query("DELETE FROM outbox");
  });
}

/** News that are in the outbox, with the rows that they stand for. */
export interface Outgoing {
  readonly rows: readonly number[];
  readonly jobs: readonly JobNews[];
}

/** The oldest rows of the outbox, and their jobs as they are now, which is never older than the rows. */
export async function readOutbox(sql: Sql, limit: number): Promise<Outgoing> {
  const rows = await sql.query<NewsRow & { readonly seqs: readonly number[] }>(
    `SELECT o.seqs, ${NEWS}
     FROM (SELECT job_id, array_agg(seq) AS seqs FROM (SELECT seq, job_id FROM outbox ORDER BY seq LIMIT $2) r GROUP BY job_id) o
     JOIN jobs j ON j.id = o.job_id ${JOINS} ORDER BY j.id`,
    [FIRST_OF_DAEMON, limit],
  );
  return { rows: rows.flatMap(({ seqs }) => seqs), jobs: rows.map(newsOf) };
}

/** All jobs that are offered, or in the hands of runners of the daemon, in the order of their ids: those behind the id. */
export async function readOffered(sql: Sql, after: number, limit: number): Promise<readonly JobNews[]> {
  const rows = await sql.query<NewsRow>(
    `SELECT ${NEWS}
     FROM (SELECT job_id AS id FROM pending_jobs WHERE job_id > $2
       UNION SELECT job_id FROM active_jobs WHERE job_id > $2 AND runner_id >= $1 ORDER BY id LIMIT $3) o
     JOIN jobs j ON j.id = o.id ${JOINS} ORDER BY j.id`,
    [FIRST_OF_DAEMON, after, limit],
  );
  return rows.map(newsOf);
}

/** Forgets rows whose news have arrived. */
export async function clearOutbox(sql: Sql, rows: readonly number[]): Promise<void> {
  if (rows.length > 0) await sql.query("DELETE FROM outbox WHERE seq = ANY ($1::bigint[])", [rows]);
}

const [FIRST_OF_DAEMON] = idsOf(DAEMON_NUMBER);

interface NewsRow {
  readonly id: number;
  readonly attempt: number;
  readonly project_id: number;
  readonly is_offered: boolean;
  readonly tags: readonly string[];
  readonly protected: boolean;
  readonly features: readonly string[];
  readonly age: number;
  readonly holder: number | null;
}

const NEWS = `j.id, j.attempt, j.project_id, q.job_id IS NOT NULL AND p.instance_runners AS is_offered, j.tags, j.protected,
  j.features, extract(epoch FROM now() - coalesce(q.queued_at, now()))::float8 AS age, a.runner_id AS holder`;

const JOINS = `JOIN projects p ON p.id = j.project_id LEFT JOIN pending_jobs q ON q.job_id = j.id
  LEFT JOIN active_jobs a ON a.job_id = j.id AND a.runner_id >= $1`;

function newsOf(row: NewsRow): JobNews {
  const { id, attempt, project_id, tags, protected: isProtected, features, holder } = row;
  const age = Math.max(0, row.age);
  return {
    id,
    attempt,
    offer: row.is_offered ? { project_id, tags, protected: isProtected, features, age } : undefined,
    held: holder === null ? undefined : { runner_id: holder, project_id },
  };
}
