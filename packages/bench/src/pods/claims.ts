import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { Client } from "pg";
import { atLeast, interleave, type Row } from "../measure.ts";
import { connectPod, type PodClient } from "./pod-client.ts";
import { type PodStart, startPod } from "./processes.ts";

const FEW = 1000;
const MANY = 100_000;
const PROJECTS = 10;
/** The jobs of each project that are made by the API; the others are copies of them. */
const MADE = 10;
const CONNECTIONS = 8;
const ROUNDS = 7;
/** Claims of one round. As many come before the first, since a pod that has just started compiles what it runs. */
const CLAIMS = 100;
/** A pod takes back what nobody confirms, which would be work beside the claims. */
const FLAGS = ["--lease", "3600s"];

/** Claims of jobs over HTTP when a hundred thousand are pending, against a thousand: two pods in turn, both of them at work for a while. */
export async function claims(scratch: string, database: string, createDatabase?: () => string): Promise<Row> {
  const optionsOf = (name: string): PodStart => ({
    stateDir: join(scratch, `claims-${database}-${name}`),
    databaseUrl: createDatabase?.(),
    flags: FLAGS,
  });
  const [ofFew, ofMany] = [optionsOf("few"), optionsOf("many")];
  const tokens = [await fill(ofFew, FEW), await fill(ofMany, MANY)] as const;
  await using few = await startPod(ofFew);
  await using many = await startPod(ofMany);
  using fewClient = connectPod(few.url, few.adminToken);
  using manyClient = connectPod(many.url, many.adminToken);
  const [floor = 0, measured = 0] = await interleave(ROUNDS, [
    async () => await claimsPerSecond(fewClient, tokens[0]),
    async () => await claimsPerSecond(manyClient, tokens[1]),
  ]);
  const name = `claims, ${MANY} pending : ${FEW} pending, ${CONNECTIONS} connections [${database}]`;
  return atLeast(name, { floor, measured, limit: 0.8, unit: "/s" });
}

/** Makes the jobs of a pod, so many more than are claimed here. Gives the token of a runner for them. */
async function fill(options: PodStart, pending: number): Promise<string> {
  const token = await withPod(options, async (client) => {
    for (let i = 0; i < PROJECTS; i++)
      await client.createJobs(MADE, { project: `claims/project-${i}`, tags: ["claims"] });
    return await client.createRunner(["claims"]);
  });
  await copyJobs(options, Math.ceil((pending + (ROUNDS + 1) * CLAIMS) / (PROJECTS * MADE)) - 1);
  return token;
}

async function withPod<T>(options: PodStart, work: (client: PodClient) => Promise<T>): Promise<T> {
  await using pod = await startPod(options);
  using client = connectPod(pod.url, pod.adminToken);
  return await work(client);
}

async function claimsPerSecond(client: PodClient, token: string): Promise<number> {
  let left = CLAIMS;
  const start = performance.now();
  const claim = async (machine: number): Promise<void> => {
    while (left-- > 0) {
      const { job } = await client.requestJob(token, `s_claims_${machine}`);
      if (job === undefined) throw new Error("A runner got no job, and there are some");
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, async (_, i) => await claim(i)));
  return CLAIMS / ((performance.now() - start) / 1000);
}

/** Makes copies of each pending job while no pod runs. Made by the API, so many jobs take minutes. */
async function copyJobs({ stateDir, databaseUrl }: PodStart, copies: number): Promise<void> {
  const copy = statementsFor(copies);
  if (databaseUrl === undefined) {
    const pglite = await PGlite.create({ dataDir: join(stateDir, "database", "data"), relaxedDurability: true });
    await pglite.exec(copy);
    await pglite.close();
    return;
  }
  const client = new Client(databaseUrl);
  await client.connect();
  await client.query(copy);
  await client.end();
}

const statementsFor = (copies: number): string => `
CREATE TEMPORARY TABLE copies AS SELECT nextval('job_ids') AS id, q.job_id AS of, q.lane_id
  FROM pending_jobs q, generate_series(1, ${copies}) AS s (i) ORDER BY s.i, q.job_id;
INSERT INTO jobs (id, pipeline_id, project_id, name, stage, stage_index, position, state, run_when, allow_failure, tags, protected,
    features, timeout_s, payload, queued_at)
  SELECT c.id, j.pipeline_id, j.project_id, j.name, j.stage, j.stage_index, j.position, j.state, j.run_when, j.allow_failure, j.tags,
    j.protected, j.features, j.timeout_s, j.payload, j.queued_at
  FROM copies c JOIN jobs j ON j.id = c.of;
INSERT INTO pending_jobs (job_id, lane_id) SELECT id, lane_id FROM copies;
ANALYZE`;
