import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { hasPostgres } from "@steps/testkit/postgres-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { openPostgres } from "../src/database/postgres-database.ts";
import { useDatabase } from "./databases.ts";
import { until } from "./pod-harness.ts";

const READY = Buffer.from("Z\0\0\0\u0005I");
const ENDED = fatal("57P01", "terminating connection due to administrator command");

/** The message of PostgreSQL before it ends a connection. */
function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from("E"), length, fields]);
}

/** A relay to a server's socket. While it is told to, it ends each connection in the very packet that says it is ready. */
async function startRelay(target: string): Promise<{ readonly dir: string; endsConnections: boolean }> {
  const relay = { dir: tempDir(), endsConnections: false };
  const server = createServer((near) => {
    const far = connect(target);
    near.on("error", () => far.destroy()).on("close", () => far.destroy());
    far.on("error", () => near.destroy()).on("close", () => near.destroy());
    near.pipe(far);
    far.on("data", (chunk) => {
      if (relay.endsConnections && chunk.subarray(-READY.length).equals(READY)) near.end(Buffer.concat([chunk, ENDED]));
      else near.write(chunk);
    });
  });
  await once(server.listen(join(relay.dir, ".s.PGSQL.5432")), "listening");
  onTestFinished(() => void server.close());
  return relay;
}

describe.skipIf(!hasPostgres)("a connection to PostgreSQL", () => {
  const database = useDatabase("PostgreSQL");

  test("that ends in the moment in which it is ready fails its transaction, and nothing else", async () => {
    const relay = await startRelay(join(database.server().dir, ".s.PGSQL.5432"));
    const url = database.options().databaseUrl ?? "";
    const pod = await openPostgres(url.replace(/host=.*/, `host=${encodeURIComponent(relay.dir)}`));
    const one = "SELECT 1 AS one";
    const held = await pod.transaction(async (sql) => {
      relay.endsConnections = true;
      const lost = Promise.allSettled(
        Array.from({ length: 3 }, async () => await pod.transaction(async (other) => await other.query(one))),
      );
      for (const outcome of await lost)
        expect(outcome).toMatchObject({ status: "rejected", reason: { code: "DATABASE_UNAVAILABLE" } });
      relay.endsConnections = false;
      return await sql.query(one);
    });
    expect(held).toEqual([{ one: 1 }]);
    expect(await pod.transaction(async (sql) => await sql.query(one))).toEqual([{ one: 1 }]);
    await pod.close();
  });

  test("to a server that has become read-only is given up for a new one, and its caller may come back", async () => {
    const pod = await openPostgres(database.options().databaseUrl ?? "");
    const create = "CREATE TABLE IF NOT EXISTS notes (note text)";
    const inTransaction = async (): Promise<unknown> => await pod.transaction(async (sql) => await sql.query(create));
    for (const change of [inTransaction, async () => await pod.query(create)]) {
      // One statement after the other, so that they share a connection.
      await pod.query("SET default_transaction_read_only = on");
      await expect(change()).rejects.toMatchObject({
        code: "DATABASE_UNAVAILABLE",
        message: expect.stringContaining("read-only") as string,
      });
      expect(await change()).toEqual([]);
    }
    await pod.close();
  });

  test("hears nothing in what others say on the channel of hints, and goes on hearing", async () => {
    const url = database.options().databaseUrl ?? "";
    const [pod, other] = [await openPostgres(url), await openPostgres(url)];
    const { promise: heard, resolve } = Promise.withResolvers<string>();
    pod.onHint(resolve);
    const listens = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN steps_pod'";
    await until(async () => (await other.query(listens)).length === 2);
    for (const said of ["no JSON", "null", '{"from":"x"}', '{"from":"x","texts":[1]}'])
      await other.query("SELECT pg_notify('steps_pod', $1)", [said]);
    other.hint("queue");
    expect(await heard).toBe("queue");
    await pod.close();
    await other.close();
  });
});
