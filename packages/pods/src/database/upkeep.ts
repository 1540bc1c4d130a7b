import type { Database } from "./database.ts";

/** The log that recovery reads again after a kill grows up to this, and is then written to the tables: two segments of PostgreSQL's log. */
const MAX_LOG_BYTES = 32 * 1024 * 1024;

/** The tables that PostgreSQL's autovacuum would take by its default settings (`autovacuum_vacuum_threshold` and the others). */
const DUE = `SELECT t.relid::regclass::text AS name, t.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0) AS is_full
  FROM pg_stat_user_tables t JOIN pg_class c ON c.oid = t.relid
  WHERE t.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0) OR t.n_mod_since_analyze > 50 + 0.1 * greatest(c.reltuples, 0)`;
const LOG_BYTES = `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()`;

/**
 * Does for an embedded database what processes of a PostgreSQL server do beside it: takes the room of rows that are gone, learns how
 * large the tables are, and lets go of the log of changes. Without that its files grow for ever, a queue that has grown is searched row
 * by row, and a start after a kill reads all that was ever changed. A server is left alone.
 */
export async function keepUp({ database }: { readonly database: Database }): Promise<void> {
  if (database.kind !== "embedded") return;
  // One session alone tells its counts when it is idle for long, which this one may never be.
  await database.query("SELECT pg_stat_force_next_flush()");
  const due = await database.query<{ name: string; is_full: boolean }>(DUE);
  for (const { name, is_full: isFull } of due)
    await database.query(isFull ? `VACUUM (ANALYZE) ${name}` : `ANALYZE ${name}`);
  const [log] = await database.query<{ bytes: number }>(LOG_BYTES);
  if (log !== undefined && log.bytes > MAX_LOG_BYTES) await database.query("CHECKPOINT");
}
