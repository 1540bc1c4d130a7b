import type { Sql } from "../database/database.ts";
import type { JobState } from "../jobs/job.ts";
import { appendValues, TAKE_BYTES } from "./append-condition.ts";
import type { TraceStore } from "./trace-store.ts";

/** Keeps traces in the database, for a pod of several processes: bytes and row change in one statement. */
export function databaseTraces(sql: Sql): TraceStore {
  return {
    async append(append) {
      const [row] = await sql.query<{ state: JobState }>(
        `WITH taken AS (${TAKE_BYTES} RETURNING id, attempt, trace_resets, state),
           kept AS (INSERT INTO trace_chunks (job_id, attempt, resets, start, bytes)
             SELECT id, attempt, trace_resets, $8, $9::bytea FROM taken
             ON CONFLICT (job_id, attempt, resets, start) DO UPDATE SET bytes = excluded.bytes)
         SELECT state FROM taken`,
        [...appendValues([append]), append.trace_size, append.bytes],
      );
      return row?.state;
    },
    async read({ id, attempt, trace_resets }, offset, length) {
      const chunks = await sql.query<{ start: number; bytes: Uint8Array }>(
        `SELECT start, bytes FROM trace_chunks
         WHERE job_id = $1 AND attempt = $2 AND resets = $3 AND start < $5
           AND start >= coalesce((SELECT max(start) FROM trace_chunks
             WHERE job_id = $1 AND attempt = $2 AND resets = $3 AND start <= $4), 0)
         ORDER BY start`,
        [id, attempt, trace_resets, offset, offset + length],
      );
      const first = chunks[0]?.start ?? offset;
      return Buffer.concat(chunks.map(({ bytes }) => bytes)).subarray(offset - first, offset - first + length);
    },
    async remove(transaction, jobs) {
      await transaction.query("DELETE FROM trace_chunks WHERE job_id = ANY ($1::bigint[])", [jobs]);
    },
    close: async () => {},
  };
}
