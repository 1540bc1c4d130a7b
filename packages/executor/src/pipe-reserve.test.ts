import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { PipeReserve } from "./pipe-reserve.ts";

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "steps-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function untilFilled(parent: string): Promise<void> {
  const [dir = ""] = readdirSync(parent);
  while (readdirSync(join(parent, dir)).length < 8) await sleep(5);
  // The pairs are given once mkfifo has ended.
  await sleep(50);
}

describe("PipeReserve", () => {
  test("gives each pair once, and makes new ones", async () => {
    const [parent, into] = [tempDir(), tempDir()];
    using reserve = new PipeReserve(parent);
    expect(reserve.take(into)).toBeUndefined();
    await untilFilled(parent);
    const taken = Array.from({ length: 8 }, () => reserve.take(into));
    expect(new Set(taken.map((pair) => pair?.dir)).size).toBe(8);
    for (const pair of taken) {
      expect(lstatSync(pair?.stdout ?? "").isFIFO()).toBe(true);
      expect(lstatSync(pair?.stderr ?? "").mode & 0o777).toBe(0o600);
    }
    expect(reserve.take(into)).toBeUndefined();
    await untilFilled(parent);
    expect(reserve.take(into)).toBeDefined();
  });

  test("leaves nothing behind, also when it is ended while it makes some", async () => {
    const parent = tempDir();
    for (let delay = 0; delay < 12; delay++) {
      const reserve = new PipeReserve(parent);
      await sleep(delay);
      reserve[Symbol.dispose]();
    }
    for (let i = 0; i < 400 && readdirSync(parent).length > 0; i++) await sleep(10);
    expect(readdirSync(parent)).toEqual([]);
  });

  test("gives nothing that somebody has removed, or that cannot be moved", async () => {
    const parent = tempDir();
    using reserve = new PipeReserve(parent);
    await untilFilled(parent);
    expect(reserve.take(join(parent, "nowhere"))).toBeUndefined();
    const into = join(tempDir(), "run");
    mkdirSync(into);
    expect(existsSync(reserve.take(into)?.stdout ?? "")).toBe(true);
  });
});
