import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { PodLink } from "./pod-link.ts";

afterEach(() => void vi.useRealTimers());

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("a pod that does not answer is left alone for a while, which a clock that is set back does not make longer", async () => {
  const url = new URL(`http://127.0.0.1:${await closedPort()}`);
  const link = new PodLink({ number: 1, url, token: "t", log: () => {} });
  const runner = { id: 1, description: "", tags: [], run_untagged: true, protected: false };
  const request = { job_id: 1, attempt: 1, claim_id: "c", runner, manager_id: 1 };
  const claim = { ...request, confirms: true, cancels_gracefully: true, features: [] };
  expect(await link.claim(claim)).toBe("unavailable");
  expect(link.isDown).toBe(true);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 3600_000 });
  while (link.isDown) await sleep(50);
  expect(link.isReady).toBe(true);
});
