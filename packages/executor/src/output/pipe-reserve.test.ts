import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
} from "node:fs";
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

/** The next pair, when there is one. */
async function taken(reserve: PipeReserve, into: string): Promise<NonNullable<ReturnType<PipeReserve["take"]>>> {
  for (;;) {
    const pair = reserve.take(into);
    if (pair !== undefined) return pair;
    await sleep(5);
  }
}

describe("PipeReserve", () => {
  test("gives each pair once, and makes new ones", async () => {
    const [parent, into] = [tempDir(), tempDir()];
    using reserve = new PipeReserve(parent);
    expect(reserve.take(into)).toBeUndefined();
    const pairs = [];
    // More than are kept, so that some were made anew.
    for (let i = 0; i < 20; i++) pairs.push(await taken(reserve, into));
    expect(new Set(pairs.map((pair) => pair.dir)).size).toBe(20);
    for (const pair of pairs) {
      expect(lstatSync(pair.stdout).isFIFO()).toBe(true);
      expect(lstatSync(pair.stderr).mode & 0o777).toBe(0o600);
    }
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

  test("gives a pair again that was given back, where runs share them, unless somebody reads it", async () => {
    const parent = tempDir();
    using reserve = new PipeReserve(parent, { sharedBy: 1 });
    const pair = await taken(reserve, parent);
    expect(reserve.giveBack(pair)).toBe(true);
    expect(reserve.take(parent)).toBe(pair);
    const reader = openSync(pair.stderr, constants.O_RDONLY | constants.O_NONBLOCK);
    expect(reserve.giveBack(pair)).toBe(true);
    expect((await taken(reserve, parent)).dir).not.toBe(pair.dir);
    closeSync(reader);
    expect(existsSync(pair.dir)).toBe(false);
    using other = new PipeReserve(parent);
    expect(other.giveBack(pair)).toBe(false);
  });

  test("gives nothing that somebody has removed, or that cannot be moved", async () => {
    const parent = tempDir();
    using reserve = new PipeReserve(parent);
    const into = join(tempDir(), "run");
    mkdirSync(into);
    await taken(reserve, into);
    expect(reserve.take(join(parent, "nowhere"))).toBeUndefined();
    expect(existsSync((await taken(reserve, into)).stdout)).toBe(true);
  });
});
