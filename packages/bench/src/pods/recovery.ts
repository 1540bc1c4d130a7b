import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Row } from "../measure.ts";
import { connectPod } from "./pod-client.ts";
import { startPod } from "./processes.ts";
import { percentile } from "./sequential.ts";

const JOBS = 100;
const LEASE_SECONDS = 5;
const RUNNERS = 8;
/** Beyond the lease: the start of the pod, a sweep, and the claims. */
const LIMIT_SECONDS = 10;

/** From the end of a pod by SIGKILL, with jobs that were given out and not confirmed, until each was given out again and confirmed. */
export async function recovery(scratch: string, database: string, databaseUrl: string | undefined): Promise<Row> {
  const stateDir = join(scratch, `recovery-${database}`);
  const options = { stateDir, databaseUrl, flags: ["--lease", `${LEASE_SECONDS}s`] };
  const killed = await startPod(options);
  const token = await assign(killed.url, killed.adminToken);
  const start = performance.now();
  await killed.kill();
  await using pod = await startPod(options);
  const up = performance.now() - start;
  using client = connectPod(pod.url, pod.adminToken);
  const times: number[] = [];
  const take = async (machine: number): Promise<void> => {
    while (times.length < JOBS) {
      const { job } = await client.requestJob(token, `s_after_${machine}`);
      if (job === undefined) continue;
      await client.update(job, "running");
      times.push(performance.now() - start);
    }
  };
  const taken = Promise.allSettled(Array.from({ length: RUNNERS }, async (_, i) => await take(i)));
  while (times.length < JOBS) await sleep(20);
  client[Symbol.dispose]();
  await taken;
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  const last = Math.max(...times);
  return {
    name: `recovery of ${JOBS} assigned jobs after kill -9, p50 and last : lease [${database}]`,
    floor: `${LEASE_SECONDS}.0 s`,
    measured: `${seconds(percentile(times, 0.5))} s, ${seconds(last)} s (up after ${seconds(up)} s)`,
    ratio: last / 1000 / LEASE_SECONDS,
    target: `≤ ${LEASE_SECONDS} + ${LIMIT_SECONDS} s`,
    isMet: last <= (LEASE_SECONDS + LIMIT_SECONDS) * 1000,
  };
}

/** Gives the jobs to runners that never confirm them. Gives the token of those that will. */
async function assign(url: string, adminToken: string): Promise<string> {
  using client = connectPod(url, adminToken);
  const token = await client.createRunner([]);
  await client.createJobs(JOBS);
  for (let given = 0; given < JOBS; given++) {
    const { job } = await client.requestJob(token, "s_before");
    if (job === undefined) throw new Error("A runner got no job, and there are some");
  }
  return token;
}
