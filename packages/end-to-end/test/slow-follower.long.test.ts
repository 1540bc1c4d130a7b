import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { followJob, runAndFollow } from "@steps/client";
import { dialUnix } from "@steps/dial";
import { isFullSize, tempDir } from "@steps/testkit";
import { expect, onTestFinished, test } from "vitest";
import { startService, writeData } from "./transport-harness.ts";

const BYTES = (isFullSize ? 300 : 100) * 1000 * 1000;
// The minute is what the full test is about: timeouts and keep-alives of half a minute would show.
const SLEEP_MS = isFullSize ? 60_000 : 2_000;
const MIB = 1024 * 1024;

function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1024;
}

test("a follower that sleeps gets every byte, holds nobody up, and costs no memory", async () => {
  const dir = tempDir();
  const { sha256 } = writeData(dir, BYTES);
  const service = await startService();
  onTestFinished(service.stop);
  const dial = dialUnix({ path: service.socket });
  const definition = JSON.stringify([{ name: "cat", exec: { command: ["cat", join(dir, String(BYTES))] } }]);
  const asleep = Promise.withResolvers<void>();
  const slow = createHash("sha256");
  let connections = 0;
  let slept = false;
  const id = "sleeper";
  const token = "t".repeat(32);
  const sleeper = runAndFollow(
    dial,
    { id, definition },
    {
      token,
      keep: true,
      onState: ({ type }) => void (type === "connected" && connections++),
      onOutput: async (_stream, bytes) => {
        slow.update(bytes);
        asleep.resolve();
        if (slept) return;
        slept = true;
        await sleep(SLEEP_MS);
      },
    },
  );
  await asleep.promise;
  const quick = createHash("sha256");
  await followJob(dial, id, { token, onOutput: (_stream, bytes) => void quick.update(bytes) });
  expect(quick.digest("hex")).toBe(sha256);
  const held = memoryOf(service.child.pid as number);
  expect(held).toBeLessThan(200 + BYTES / MIB / 4);
  expect((await sleeper).exitCode).toBe(0);
  expect(slow.digest("hex")).toBe(sha256);
  expect(connections).toBe(1);
}, 180_000);
