import { messageOf } from "@steps/model";
import { Pool, type PoolConfig, type QueryConfig, TypeOverrides, types } from "pg";
import { type Database, DatabaseError, type Sql } from "./database.ts";
import { openHints } from "./postgres-hints.ts";

/** The number of statements that a process runs at once. */
const CONNECTIONS = 16;
const CONNECT_TIMEOUT_MS = 5_000;
const ARRAY_OF_INT8 = 1016;
const ATTEMPTS = 5;
/** A deadlock, and a serialization that failed. */
const GIVEN_UP: ReadonlySet<string> = new Set(["40P01", "40001"]);

/**
 * Opens a PostgreSQL that several processes of one pod may share.
 *
 * @throws {DatabaseError} when it cannot be reached
 */
export async function openPostgres(url: string): Promise<Database> {
  const settings: PoolConfig = {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    max: CONNECTIONS,
    application_name: "pod",
    types: exactNumbers(),
  };
  const pool = new Pool(settings);
  // A connection that breaks while nobody uses it is replaced by the next statement.
  pool.on("error", () => {});
  // Between the pool and whoever asked for a connection, nobody listens: one that ended just then would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  const database: Database = {
    kind: "postgres",
    query: async (text, values = []) => await answered(async () => (await pool.query(prepared(text, values))).rows),
    transaction: async (work) =>
      await answered(async () => await repeated(async () => await inTransaction(pool, work))),
    ...openHints(settings, async (text, values) => void (await pool.query(text, values))),
  };
  const close = async (): Promise<void> => {
    await database.close();
    await pool.end();
  };
  try {
    await database.query("SELECT 1");
  } catch (error) {
    // A listener would keep the process from ending.
    await close();
    throw error;
  }
  return { ...database, close };
}

const names = new Map<string, string>();
const MAX_NAMES = 500;

/** A statement that each connection reads and plans once: for those that look for jobs, that takes longer than running them. */
function prepared(text: string, values: readonly unknown[]): QueryConfig {
  const name = names.get(text) ?? (names.size < MAX_NAMES ? `pod-${names.size}` : undefined);
  if (name === undefined) return { text, values: [...values] };
  names.set(text, name);
  return { name, text, values: [...values] };
}

async function inTransaction<T>(pool: Pool, work: (sql: Sql) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A connection may break between two statements, when nothing else would hear of it. The next statement fails then.
  const lost = (error: Error): void => void (broken = error);
  client.on("error", lost);
  try {
    await client.query("BEGIN");
    const done = await work({ query: async (text, values = []) => (await client.query(prepared(text, values))).rows });
    await client.query("COMMIT");
    return done;
  } catch (error) {
    await client.query("ROLLBACK").catch((failure: Error) => (broken = failure));
    // After a failover, a new connection may lead to the server that is the first one now.
    if (codeOf(error) === READ_ONLY) broken = error as Error;
    throw error;
  } finally {
    client.off("error", lost);
    client.release(broken);
  }
}

/** Repeats a transaction that the database gave up for the sake of another one. */
async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !GIVEN_UP.has(String(codeOf(error)))) throw error;
    }
  }
}

// Ids, sizes and counts stay far below the numbers that JavaScript has exactly.
function exactNumbers(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, Number);
  overrides.setTypeParser(ARRAY_OF_INT8, (text) => (text === "{}" ? [] : text.slice(1, -1).split(",").map(Number)));
  return overrides;
}

/** Names the failure of a connection, so that callers can tell it from a mistake in a statement. */
async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isConnectionFailure(error)) throw error;
    const problem = codeOf(error) === READ_ONLY ? "The database takes no changes" : "The database does not answer";
    throw new DatabaseError("DATABASE_UNAVAILABLE", `${problem}: ${messageOf(error)}`, { cause: error });
  }
}

/** The code of SQL for a change at a server that takes none, as one that was the first until a failover. */
const READ_ONLY = "25006";
/** That, and those for a lost connection, a server that stops or starts, and too many connections; else those of the system. */
const UNAVAILABLE = new RegExp(`^(?:08|57P|53300|${READ_ONLY})|^E[A-Z]+$`);

function isConnectionFailure(error: unknown): boolean {
  const code = codeOf(error);
  if (typeof code === "string") return UNAVAILABLE.test(code);
  return error instanceof Error && /connection|timeout/i.test(error.message);
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}
