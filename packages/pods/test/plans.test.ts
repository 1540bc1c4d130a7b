import { describe, expect, test } from "vitest";
import { reserveOffers } from "../src/daemon/reserve-offers.ts";
import type { Database, Sql } from "../src/database/database.ts";
import { openDatabase } from "../src/database/open-database.ts";
import type { Capability } from "../src/queue/capability.ts";
import { claimJobs, type Slot } from "../src/queue/claim-jobs.ts";
import { databaseKinds, useDatabase } from "./databases.ts";
import { emptyState } from "./pod-harness.ts";

// What is in the queue is more than a plan may read, and so little that it is made quickly. The tables of a hundred thousand jobs are
// read in the same way.
const LONG = 20_000;
const LANES = 10;
const RUNNER = 1;

/** What the planner knows: nothing, the queue as it was when one lane alone had jobs, or all of it. */
type Known = "nothing" | "one lane" | "everything";

interface Queue {
  readonly lanes: number;
  readonly known: Known;
}

const queues: readonly Queue[] = [
  { lanes: 1, known: "nothing" },
  { lanes: 1, known: "one lane" },
  { lanes: 1, known: "everything" },
  { lanes: LANES, known: "nothing" },
  { lanes: LANES, known: "everything" },
];

const statements = {
  claim: async (sql: Sql, capability: Capability, slots: readonly Slot[]) => await claimJobs(sql, capability, slots),
  reservation: async (sql: Sql, capability: Capability, slots: readonly Slot[]) =>
    await reserveOffers(sql, capability, slots, [1]),
};

const probes = (["claim", "reservation"] as const).flatMap((statement) =>
  (["custom", "generic"] as const).flatMap((plan) =>
    ["front", "behind"].flatMap((tag) => [1, 32].map((slots) => ({ statement, plan, tag, slots }))),
  ),
);

describe.each(databaseKinds)("few rows are read behind a long queue, on %s", (kind) => {
  const database = useDatabase(kind);

  test.each(queues)("of lanes: $lanes, and the planner knows: $known", async (queue) => {
    const { databaseUrl } = database.options();
    const db = await openDatabase({ stateDir: await emptyState(databaseUrl), pod: 1, url: databaseUrl });
    try {
      await fill(db, queue);
      const tooMuch: object[] = [];
      for (const probe of probes) {
        const work = async (sql: Sql): Promise<unknown> =>
          await statements[probe.statement](sql, capabilityOf(probe.tag), slotsOf(probe.slots));
        const read = await readBy(db, probe.plan, work);
        // A slot may look at one job of each lane: in the queue, in its table, and where it is written.
        const most = 20 * probe.slots * (queue.lanes + 1);
        if (read.rows > most || read.buffers > 100 + most) tooMuch.push({ ...probe, ...read, most });
      }
      expect(tooMuch).toEqual([]);
    } finally {
      await db.close();
    }
  });
});

async function fill(db: Database, { lanes, known }: Queue): Promise<void> {
  const behind = lanes + 1;
  await db.query(
    `INSERT INTO projects (id, path, group_ids) SELECT i, 'group/' || i, '{}' FROM generate_series(1, $1::int) i`,
    [behind],
  );
  await db.query(
    `INSERT INTO pipelines (id, project_id, state) SELECT i, i, 'running' FROM generate_series(1, $1::int) i`,
    [behind],
  );
  const tags = "CASE WHEN i = $1::int THEN '{behind}' ELSE '{front}' END::text[]";
  await db.query(
    `INSERT INTO lanes (project_id, tags, protected, features) SELECT i, ${tags}, false, '{}' FROM generate_series(1, $1::int) i`,
    [behind],
  );
  await db.query(
    `INSERT INTO offer_lanes (pod, project_id, tags, protected, features)
     SELECT 1, i, ${tags}, false, '{}' FROM generate_series(1, $1::int) i`,
    [behind],
  );
  await db.query(
    `INSERT INTO runners (id, kind, run_untagged, tags, token_hash) VALUES ($1, 1, false, '{front,behind}', 'hash')`,
    [RUNNER],
  );
  await queueJobs(db, 1, LONG, lanes, 0);
  if (known === "one lane") await db.query("ANALYZE");
  await queueJobs(db, LONG + 1, LONG + 100, 1, lanes);
  if (known === "everything") await db.query("ANALYZE");
}

/** Adds jobs with these ids to so many lanes after the first ones. */
async function queueJobs(db: Database, from: number, to: number, lanes: number, after: number): Promise<void> {
  await db.query(
    `INSERT INTO jobs (id, pipeline_id, project_id, name, stage, stage_index, position, state, run_when, allow_failure, tags,
       protected, features, timeout_s, payload, queued_at)
     SELECT i, l.project_id, l.project_id, 'job', 'test', 0, 0, 'pending', 'on_success', false, l.tags, false, '{}', 3600, '{}', now()
     FROM generate_series($1::int, $2::int) i JOIN lanes l ON l.project_id = $4::int + 1 + i % $3::int`,
    [from, to, lanes, after],
  );
  await db.query(
    `INSERT INTO pending_jobs (job_id, lane_id)
     SELECT j.id, l.id FROM jobs j JOIN lanes l USING (project_id) WHERE j.id BETWEEN $1 AND $2 ORDER BY j.id`,
    [from, to],
  );
  await db.query(
    `INSERT INTO offers (job_id, pod, lane_id, attempt, queued_at, session)
     SELECT j.id, 1, l.id, 0, now(), 's' FROM jobs j JOIN offer_lanes l USING (project_id) WHERE j.id BETWEEN $1 AND $2 ORDER BY j.id`,
    [from, to],
  );
}

const capabilityOf = (tag: string): Capability => ({
  kind: 1,
  groupId: undefined,
  projectIds: [],
  tags: [tag],
  runUntagged: false,
  isProtected: false,
  features: [],
});

const slotsOf = (count: number): readonly Slot[] =>
  Array.from({ length: count }, () => ({
    runnerId: RUNNER,
    runnerVersion: 1,
    managerId: 1,
    leaseSeconds: 60,
    cancelsGracefully: true,
  }));

interface Read {
  /** Rows of tables, those that were read and left out among them. */
  readonly rows: number;
  /** Pages of tables and indexes, each as often as it was looked at. */
  readonly buffers: number;
}

interface PlanNode {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly PlanNode[];
}

/** Runs a statement as it is prepared, counts what it reads, and takes back what it did. */
async function readBy(db: Database, plan: "custom" | "generic", work: (sql: Sql) => Promise<unknown>): Promise<Read> {
  const back = new Error("taken back");
  let read: Read | undefined;
  const explain: Sql["query"] = async (text, values = []) => {
    const transaction = db.transaction(async (sql) => {
      await sql.query(`SET LOCAL plan_cache_mode = force_${plan}_plan`);
      await sql.query(`PREPARE probe AS ${text}`);
      const [row] = await sql.query<{ "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
        `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE probe(${values.map(literal).join(", ")})`,
      );
      await sql.query("DEALLOCATE probe");
      const top = row?.["QUERY PLAN"][0]?.Plan;
      if (top !== undefined)
        read = { rows: rowsOf(top), buffers: top["Shared Hit Blocks"] + top["Shared Read Blocks"] };
      throw back;
    });
    await transaction.catch((error: unknown) => {
      if (error !== back) throw error;
    });
    return [];
  };
  await work({ query: explain });
  if (read === undefined) throw new Error("There is no plan");
  return read;
}

function rowsOf(node: PlanNode): number {
  const removed = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  const own = node["Relation Name"] === undefined ? 0 : (node["Actual Rows"] + removed) * node["Actual Loops"];
  return own + (node.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), 0);
}

function literal(value: unknown): string {
  if (value === null) return "NULL";
  return Array.isArray(value) ? `'{${value.join(",")}}'` : JSON.stringify(value);
}
