import { join } from "node:path";
import type { Database } from "./database.ts";
import { migrate } from "./migrate.ts";
import { preparePod } from "./prepare-pod.ts";

/** The database of a pod: where it is, and of which pod. */
export interface DatabaseOptions {
  /** A URL of PostgreSQL. Default: an embedded database below the folder of the state. */
  readonly url?: string | undefined;
  /** The folder of the pod's state. */
  readonly stateDir: string;
  /** The number of the pod, 1 to 9000. */
  readonly pod: number;
}

/**
 * Opens the database of a pod with the tables of this version, and makes it the first time.
 *
 * @throws {DatabaseError}
 */
export async function openDatabase({ url, stateDir, pod }: DatabaseOptions): Promise<Database> {
  const database = await (url === undefined
    ? (await import("./pglite-database.ts")).openPglite(join(stateDir, "database"))
    : (await import("./postgres-database.ts")).openPostgres(url));
  try {
    await migrate(database);
    await preparePod(database, pod);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
