import { DAEMON_NUMBER, idsOf } from "@steps/pod-tokens";
import { type Database, DatabaseError } from "./database.ts";

const SEQUENCES = ["job_ids", "pipeline_ids", "project_ids", "group_ids", "runner_ids", "manager_ids"];

/**
 * Gives a new database the number of its pod, and the ids that belong to it.
 *
 * @throws {DatabaseError} when the database is that of another pod
 */
export async function preparePod(database: Database, pod: number): Promise<void> {
  const [first, last] = idsOf(pod);
  await database.transaction(async (sql) => {
    const made = await sql.query("INSERT INTO pod (number) VALUES ($1) ON CONFLICT DO NOTHING RETURNING number", [pod]);
    const [row] = await sql.query<{ number: number }>("SELECT number FROM pod");
    if (row?.number !== pod)
      throw new DatabaseError(
        "DATABASE_INVALID",
        `The database is that of ${nameOf(row?.number)}, not of ${nameOf(pod)}`,
      );
    if (made.length === 0) return;
    for (const sequence of SEQUENCES) await sql.query(`CREATE SEQUENCE ${sequence} MINVALUE ${first} MAXVALUE ${last}`);
  });
}

function nameOf(pod: number | undefined): string {
  return pod === DAEMON_NUMBER ? "a daemon" : `pod ${pod}`;
}
