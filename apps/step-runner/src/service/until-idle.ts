import { setTimeout as delay } from "node:timers/promises";
import type { RunningService } from "./start-service.ts";

const MAX_INTERVAL_MS = 5000;

/**
 * Resolves once the service has had no connection and no running job for this time; without a time, never. Jobs that ended
 * are on the disk, where the next service finds them.
 *
 * @param timeoutMs milliseconds
 */
export async function untilIdle(
  { jobs, listeners }: Pick<RunningService, "jobs" | "listeners">,
  timeoutMs: number | undefined,
): Promise<void> {
  if (timeoutMs === undefined) return await new Promise(() => undefined);
  const interval = Math.min(timeoutMs / 4, MAX_INTERVAL_MS);
  const isBusy = (): boolean =>
    listeners.some((listener) => listener.connectionCount() > 0) ||
    jobs.list().some(({ info }) => info.status === "running");
  let end = performance.now() + timeoutMs;
  while (performance.now() < end) {
    await delay(interval, undefined, { ref: false });
    if (isBusy()) end = performance.now() + timeoutMs;
  }
}
