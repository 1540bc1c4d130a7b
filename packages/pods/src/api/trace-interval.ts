import type { Pod } from "../pod/pod.ts";

const WATCHED_FOR_MS = 60_000;
const MAX_WATCHED = 10_000;
const SECONDS = { watched: "3", other: "10" } as const;

/** How many seconds a runner waits between two patches: few while somebody follows the job. Until the next one it hears of no cancelling. */
export function traceInterval(pod: Pod, jobId: number): string {
  const at = pod.watched.get(jobId);
  return at !== undefined && performance.now() - at < WATCHED_FOR_MS ? SECONDS.watched : SECONDS.other;
}

/** Notes that somebody follows a job. */
export function watch(pod: Pod, jobId: number): void {
  if (pod.watched.size > MAX_WATCHED) pod.watched.clear();
  pod.watched.set(jobId, performance.now());
}
