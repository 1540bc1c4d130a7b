import { setTimeout as sleep } from "node:timers/promises";
import { absolute, type Row } from "../measure.ts";
import { startIdleRunners } from "./idle-runners.ts";
import { connectPod } from "./pod-client.ts";
import type { PodProcess } from "./processes.ts";

const POLLS = 5000;
/** Milliseconds until what the start and the first requests took for a moment is given back, such as by the compiler of PGlite's code. */
const REST_MS = 8_000;

/** The memory of a pod that holds five thousand requests for jobs. */
export async function heldPolls(pod: PodProcess, database: string): Promise<Row> {
  using client = connectPod(pod.url, pod.adminToken);
  const token = await client.createRunner(["held"]);
  await sleep(REST_MS);
  const before = pod.memory();
  const runners = await startIdleRunners(pod, { tokens: [token], machines: POLLS, onJob: () => Promise.resolve() });
  await sleep(REST_MS);
  const measured = pod.memory();
  await runners.stop();
  const each = (((measured - before) * 1024) / POLLS).toFixed(0);
  const name = `memory with ${POLLS} held requests, ${each} KiB for each [${database}]`;
  return absolute(name, { measured, limit: 400, unit: "MiB" });
}
