import { setTimeout as sleep } from "node:timers/promises";
import { absolute, type Row } from "../measure.ts";
import { startIdleRunners } from "./idle-runners.ts";
import type { PodClient } from "./pod-client.ts";
import type { PodProcess } from "./processes.ts";
import { percentile } from "./sequential.ts";

const MACHINES = 1000;
const JOBS = 150;
/** Milliseconds between two jobs, whether the one before has been received or not. */
const EVERY_MS = 120;

/** From the request that creates a job to the answer that gives it to one of a thousand runners that wait. */
export async function pickUp(
  pod: PodProcess,
  client: PodClient,
  database: string,
  floor: readonly number[],
): Promise<Row[]> {
  const started = new Map<string, number>();
  const times: number[] = [];
  const tokens = await Promise.all(["a", "b", "c", "d"].map(async (tag) => await client.createRunner([tag])));
  const runners = await startIdleRunners(pod, {
    tokens,
    machines: MACHINES,
    onJob: async (job) => {
      const { name } = job.job_info;
      times.push(performance.now() - (started.get(name) ?? NaN));
      await client.update(job, "success");
    },
  });
  const created: Promise<unknown>[] = [];
  for (let i = 0; i < JOBS; i++) {
    const name = `pick-up-${i}`;
    started.set(name, performance.now());
    created.push(client.createJobs(1, { name, tags: ["abcd"[i % 4] as string] }));
    await sleep(EVERY_MS);
  }
  await Promise.all(created);
  while (times.length < JOBS) await sleep(20);
  await runners.stop();
  // The first of each kind prepare what the others use.
  const measured = times.slice(10);
  const half = percentile(measured, 0.5);
  const floorHalf = percentile(floor, 0.5);
  return [
    {
      name: `queued to received, p50, ${MACHINES} idle runners : node:http [${database}]`,
      floor: `${floorHalf.toFixed(2)} ms (${Math.min(...floor).toFixed(2)})`,
      measured: `${half.toFixed(1)} ms (${Math.min(...measured).toFixed(1)})`,
      ratio: half / floorHalf,
      target: "–",
      isMet: true,
    },
    {
      ...absolute(`queued to received, p99, ${MACHINES} idle runners : node:http, p99 [${database}]`, {
        measured: percentile(measured, 0.99),
        limit: 50,
        unit: "ms",
      }),
      floor: `${percentile(floor, 0.99).toFixed(2)} ms`,
      ratio: percentile(measured, 0.99) / percentile(floor, 0.99),
    },
  ];
}
