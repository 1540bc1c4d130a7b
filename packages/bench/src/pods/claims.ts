import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { Client } from "pg";
import { atLeast, type Row } from "../measure.ts";
import { connectPod, type PodClient } from "./pod-client.ts";
import { type PodStart, startPod } from "./processes.ts";

const FEW = 1000;
const COPIES = 100;
const CONNECTIONS = 8;
const CLAIMS = 400;
const WARM = 50;

/** Claims of jobs over HTTP when a hundred thousand are pending, against a thousand. */
export async function claims(scratch: string, database: string, databaseUrl: string | undefined): Promise<Row> {
  const options: PodStart = { stateDir: join(scratch, `claims-${database}`), databaseUrl };
  let token = "";
  const floor = await withPod(options, async (client) => {
    token = await client.createRunner(["claims"]);
    for (let i = 0; i < 10; i++)
      await client.createJobs((FEW + CLAIMS) / 10, { project: `claims/project-${i}`, tags: ["claims"] });
    return await claimsPerSecond(client, token);
  });
  await copyJobs(options);
  const measured = await withPod(options, async (client) => await claimsPerSecond(client, token));
  const name = `claims, ${FEW * COPIES} pending : ${FEW} pending, ${CONNECTIONS} connections [${database}]`;
  return atLeast(name, { floor, measured, limit: 0.8, unit: "/s" });
}

async function withPod<T>(options: PodStart, work: (client: PodClient) => Promise<T>): Promise<T> {
  await using pod = await startPod(options);
  using client = connectPod(pod.url, pod.adminToken);
  return await work(client);
}

async function claimsPerSecond(client: PodClient, token: string): Promise<number> {
  let left = CLAIMS;
  let start = 0;
  const claim = async (machine: number): Promise<void> => {
    while (left-- > 0) {
      const { job } = await client.requestJob(token, `s_claims_${machine}`);
      if (job === undefined) throw new Error("A runner got no job, and there are some");
      if (left === CLAIMS - WARM) start = performance.now();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, async (_, i) => await claim(i)));
  return (CLAIMS - WARM) / ((performance.now() - start) / 1000);
}

/**
 * Makes many of each pending job while no pod runs. Made by the API, so many jobs take minutes. The jobs that were given out before are
 * ended: a claim counts those in hand, and their leases would expire meanwhile.
 */
async function copyJobs({ stateDir, databaseUrl }: PodStart): Promise<void> {
  if (databaseUrl === undefined) {
    const pglite = await PGlite.create({ dataDir: join(stateDir, "database", "data"), relaxedDurability: true });
    await pglite.exec(COPY);
    await pglite.close();
    return;
  }
  const client = new Client(databaseUrl);
  await client.connect();
  await client.query(COPY);
  await client.end();
}

const COPY = `
UPDATE jobs SET state = 'success', lease_expires_at = NULL, finished_at = now() WHERE id IN (SELECT job_id FROM active_jobs);
DELETE FROM active_jobs;
CREATE TEMPORARY TABLE copies AS SELECT nextval('job_ids') AS id, q.job_id AS of, q.lane_id
  FROM pending_jobs q, generate_series(1, ${COPIES}) AS s (i) ORDER BY s.i, q.job_id;
INSERT INTO jobs (id, pipeline_id, project_id, name, stage, stage_index, position, state, run_when, allow_failure, tags, protected,
    features, timeout_s, payload, queued_at)
  SELECT c.id, j.pipeline_id, j.project_id, j.name, j.stage, j.stage_index, j.position, j.state, j.run_when, j.allow_failure, j.tags,
    j.protected, j.features, j.timeout_s, j.payload, j.queued_at
  FROM copies c JOIN jobs j ON j.id = c.of;
INSERT INTO pending_jobs (job_id, lane_id) SELECT id, lane_id FROM copies;
ANALYZE`;
