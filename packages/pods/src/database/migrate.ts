import { type Database, DatabaseError, type Sql } from "./database.ts";
import { MIGRATIONS } from "./migrations.ts";

/** Any number that is ours: two processes that start at once make the tables one after the other. */
const LOCK = 7_305_551;

/**
 * Brings the tables of a database to the version of this program.
 *
 * @throws {DatabaseError} DATABASE_INVALID when a newer program has made them
 */
export async function migrate(database: Database): Promise<void> {
  await database.transaction(async (sql) => {
    await sql.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    await sql.query(
      "CREATE TABLE IF NOT EXISTS migrations (number int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())",
    );
    const [row] = await sql.query<{ last: number }>("SELECT coalesce(max(number), 0) AS last FROM migrations");
    const last = row?.last ?? 0;
    if (last > MIGRATIONS.length)
      throw new DatabaseError("DATABASE_INVALID", `The database is of a newer pod: version ${last}`, {
        hint: `This one knows versions up to ${MIGRATIONS.length}.`,
      });
    for (const [index, statements] of MIGRATIONS.entries()) if (index >= last) await apply(sql, index + 1, statements);
  });
}

async function apply(sql: Sql, number: number, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.query(statement);
  await sql.query("INSERT INTO migrations (number) VALUES ($1)", [number]);
}
