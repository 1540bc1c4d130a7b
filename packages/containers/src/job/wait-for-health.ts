import { setTimeout as sleep } from "node:timers/promises";
import type { ContainerFacts } from "./inspect-container.ts";

const FIRST_POLL_MS = 100;
const LAST_POLL_MS = 1000;
const SAY_EVERY_MS = 10_000;
/** The engine itself calls a container unhealthy after some tries; one that asks every hour is not waited for. */
const MAX_WAIT_MS = 10 * 60_000;

/**
 * Waits until a container is healthy, or has no health check. Returns what is wrong with it; `undefined`: nothing. Rejects with
 * what `ask` throws, and when the signal is aborted.
 *
 * @param options.say is given a sentence at the start and every ten seconds
 */
export async function waitForHealth(
  signal: AbortSignal,
  { ask, say }: { readonly ask: () => Promise<ContainerFacts>; readonly say: (text: string) => Promise<void> },
): Promise<string | undefined> {
  const start = performance.now();
  let saidAt = start;
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_POLL_MS)) {
    const { isRunning, exitCode, health } = await ask();
    if (!isRunning) return `the service has ended with exit status ${exitCode}`;
    if (health === "healthy" || health === "") return undefined;
    if (health === "unhealthy") return "the service is unhealthy";
    if (pauseMs === FIRST_POLL_MS) await say("Waiting until it is healthy");
    const now = performance.now();
    if (now - start > MAX_WAIT_MS) return `the service is not healthy after ${MAX_WAIT_MS / 60_000} minutes`;
    if (now - saidAt > SAY_EVERY_MS) {
      saidAt = now;
      await say(`It is ${health} for ${Math.round((now - start) / 1000)} s`);
    }
    await sleep(pauseMs, undefined, { signal });
  }
}
