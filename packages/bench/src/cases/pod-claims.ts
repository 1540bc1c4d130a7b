import { hasPostgres, startPostgres } from "@steps/testkit/postgres-server";
import type { Row } from "../measure.ts";
import { claims } from "../pods/claims.ts";
import { withoutPostgres } from "../pods/processes.ts";

/** Claims behind a long queue, on both databases. */
export async function podClaims(scratch: string): Promise<Row[]> {
  const embedded = await claims(scratch, "PGlite");
  if (!hasPostgres) return [embedded, withoutPostgres];
  const postgres = await startPostgres();
  try {
    return [embedded, await claims(scratch, "PostgreSQL", postgres.createDatabase)];
  } finally {
    await postgres.remove();
  }
}
