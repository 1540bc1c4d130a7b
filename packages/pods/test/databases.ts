import { afterAll, beforeAll } from "vitest";
import { type PostgresServer, hasPostgres, startPostgres } from "@steps/testkit/postgres-server";

/** One of the two databases that a pod may have. */
export interface TestDatabase {
  /** The settings of a pod with an empty database of this kind. */
  readonly options: () => { readonly databaseUrl?: string };
  /** The server, for tests that end it; there is none for the embedded database. */
  readonly server: () => PostgresServer;
}

/** The kinds of databases that this machine has, for `describe.each`. */
export const databaseKinds: readonly ("PGlite" | "PostgreSQL")[] = hasPostgres ? ["PGlite", "PostgreSQL"] : ["PGlite"];

/** Prepares a database for the tests of a `describe`. */
export function useDatabase(kind: "PGlite" | "PostgreSQL"): TestDatabase {
  let server: PostgresServer | undefined;
  const known = (): PostgresServer => {
    if (server === undefined) throw new Error("There is no server");
    return server;
  };
  if (kind === "PostgreSQL") {
    beforeAll(async () => void (server = await startPostgres()));
    afterAll(async () => await server?.remove());
  }
  return { options: () => (kind === "PGlite" ? {} : { databaseUrl: known().createDatabase() }), server: known };
}
