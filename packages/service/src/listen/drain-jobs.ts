import { setTimeout as sleep } from "node:timers/promises";
import type { Service } from "../create-service.ts";
import type { Listener } from "./listener.ts";

/** How long a job that ended is kept for those who follow it and ask for what is left of it: its end, its trace. */
const COLLECT_MS = 10_000;
/** A client that lost its connection has made another one within this time. */
const AWAY_MS = 1000;
const LOOK_MS = 50;

/**
 * Takes no new jobs, and waits until those that run have ended and their followers have what they want: until the jobs are closed,
 * nobody has been connected for a second, or 10 seconds have passed. Nothing is waited for once `giveUp` is aborted. The service
 * still answers afterwards; stop it next.
 */
export async function drainJobs(service: Service, listeners: readonly Listener[], giveUp: AbortSignal): Promise<void> {
  service.drain();
  const running = service.jobs.list().map((job) => job.ended);
  await orAborted(Promise.all(running), giveUp);
  await untilCollected(service, listeners, giveUp);
}

async function orAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const abort = (): void => aborted.resolve();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  await Promise.race([work, aborted.promise]);
  signal.removeEventListener("abort", abort);
}

async function untilCollected({ jobs }: Service, listeners: readonly Listener[], signal: AbortSignal): Promise<void> {
  const isFresh = (at: number | undefined): boolean => at !== undefined && Date.now() - at < COLLECT_MS;
  let seen = performance.now();
  while (!signal.aborted && jobs.list().some(({ info }) => isFresh(info.finishedAt))) {
    if (listeners.some((listener) => listener.connectionCount() > 0)) seen = performance.now();
    else if (performance.now() - seen > AWAY_MS) return;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}
