import { readdirSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../src/database/open-database.ts";
import { keepUp } from "../src/database/upkeep.ts";

const ROWS = 2_000;

test("an embedded database that is kept up does not grow by what is changed again and again, and knows its tables", async () => {
  const stateDir = tempDir();
  const database = await openDatabase({ stateDir, pod: 1 });
  onTestFinished(() => database.close());
  const pages = async (): Promise<number> => {
    const [row] = await database.query<{ pages: number }>("SELECT pg_relation_size('changing') / 8192 AS pages");
    return row?.pages ?? 0;
  };
  const logs = (): number =>
    readdirSync(join(stateDir, "database/data/pg_wal")).filter((name) => /^[0-9A-F]{24}$/.test(name)).length;
  await database.query("CREATE TABLE changing (id int PRIMARY KEY, text text NOT NULL)");
  await database.query(`INSERT INTO changing SELECT i, repeat('x', 500) FROM generate_series(1, ${ROWS}) i`);
  await keepUp({ database });
  const [known] = await database.query<{ rows: number }>(
    "SELECT reltuples AS rows FROM pg_class WHERE relname = 'changing'",
  );
  expect(known?.rows).toBe(ROWS);
  const first = await pages();
  for (let round = 0; round < 60; round++) {
    await database.query("UPDATE changing SET text = repeat($1, 500)", [String(round % 10)]);
    await keepUp({ database });
  }
  expect(await pages()).toBeLessThanOrEqual(4 * first);
  expect(logs()).toBeLessThanOrEqual(6);
  const [left] = await database.query<{ bytes: number }>(
    "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()",
  );
  expect(left?.bytes).toBeLessThan(40 * 1024 * 1024);
});
