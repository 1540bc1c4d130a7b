import { setTimeout as sleep } from "node:timers/promises";
import { ask, createJobs, end, type Mode } from "./modes.ts";

const JOBS = 120;
const EVERY_MS = 50;
/** The pod that has four of five jobs. */
const BUSY_POD = 2;
/** Runners of each pod, and how long they work on a job: the busy pod's own are just enough for its jobs. */
const RUNNERS = 4;
const WORK_MS = 200;

/**
 * The time for which jobs wait when they come at a steady pace, most of them at one pod: from the request that creates a job to the answer
 * that gives it to a runner, in milliseconds.
 */
export async function waitsUnderLoad(mode: Mode): Promise<number[]> {
  const tag = `load ${mode.name}`;
  const podOf = (at: number): number => (at % 5 === 0 ? 3 - BUSY_POD : BUSY_POD);
  const received = new Map<number, number>();
  const stopped = new AbortController();
  const work = async (pod: number): Promise<void> => {
    while (!stopped.signal.aborted) {
      const job = await ask(mode, pod, tag, stopped.signal).catch(() => undefined);
      if (job === undefined) continue;
      received.set(job.id, performance.now());
      await sleep(WORK_MS);
      await end(mode, pod, job);
    }
  };
  const working = [1, 2].flatMap((pod) => Array.from({ length: RUNNERS }, () => work(pod)));
  const created = await Promise.all(
    Array.from({ length: JOBS }, async (_, at) => {
      await sleep(at * EVERY_MS);
      const start = performance.now();
      const [id = 0] = await createJobs(mode, podOf(at), tag, 1);
      return { id, start };
    }),
  );
  while (received.size < JOBS) await sleep(20);
  stopped.abort();
  await Promise.all(working);
  return created.map(({ id, start }) => (received.get(id) ?? NaN) - start);
}
