import { setTimeout as sleep } from "node:timers/promises";
import { tempDir } from "@steps/testkit";
import { expect, test } from "vitest";
import { route } from "../http/route.ts";
import { countersOfPod } from "../pod/metrics.ts";
import type { RunnerHome } from "../pod/pod.ts";
import { serveRoutes } from "./serve-routes.ts";

/** Serves one route, and asks for it. Its answer comes when `finish` is resolved. */
async function serveOne(finish: Promise<unknown>) {
  const settings = { stateDir: tempDir(), pod: 1, url: undefined };
  const home = { settings, metrics: countersOfPod() } as unknown as RunnerHome;
  const begun = Promise.withResolvers<void>();
  const slow = route("GET", "/slow", async (exchange) => {
    begun.resolve();
    await finish;
    exchange.text(200, "late");
  });
  const { url, close } = await serveRoutes(home, () => [slow], { port: 0 });
  const answer = fetch(`${url}/slow`).then(async (reply) => await reply.text());
  await begun.promise;
  return { url, close, answer };
}

// The second is longer than any timer can wait.
test.each([10_000, 2 ** 40])(
  "a call that is under way has %i ms to end, a connection without one has none",
  async (ms) => {
    const { url, close, answer } = await serveOne(sleep(200));
    await Promise.all([close(async () => {}, { drainMs: ms }), expect(answer).resolves.toBe("late")]);
    await expect(fetch(`${url}/slow`)).rejects.toThrow();
  },
);

test.each(["before", "after"])(
  "a call is cut off when there is no more patience, which ends %s the drain begins",
  async (when) => {
    const hurry = new AbortController();
    const { close, answer } = await serveOne(new Promise(() => {}));
    if (when === "before") hurry.abort();
    const closed = close(async () => {}, { drainMs: 2 ** 40, hurry: hurry.signal });
    hurry.abort();
    await expect(answer).rejects.toThrow();
    await closed;
  },
);
