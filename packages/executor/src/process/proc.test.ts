import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { wasLastStarted } from "./proc.ts";

describe.skipIf(process.platform !== "linux")("wasLastStarted()", () => {
  const started = (): { lastPid: number; atMs: number } => ({
    lastPid: spawnSync("true").pid,
    atMs: Date.now(),
  });

  test("is false once another process was started", () => {
    const first = started();
    started();
    expect(wasLastStarted(first)).toBe(false);
  });

  test("is true of the youngest process of the system", () => {
    // Others start processes, too, but not always in the same moment.
    let isYoungest = false;
    for (let tries = 0; tries < 1000 && !isYoungest; tries++) isYoungest = wasLastStarted(started());
    expect(isYoungest).toBe(true);
  });
});
