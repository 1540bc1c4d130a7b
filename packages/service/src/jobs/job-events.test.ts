import { afterEach, expect, test, vi } from "vitest";
import { JobEvents } from "./job-events.ts";

afterEach(() => void vi.useRealTimers());

test("format() gives the same start of the process whatever the clock says: another one would be taken for a restart", () => {
  const startOf = (): string | undefined => {
    const figures = new JobEvents(() => {}).format({ running: 0, ended: 0, maxJobs: 1, isDraining: false });
    return /^process_start_time_seconds (\d+(?:\.\d+)?)$/m.exec(figures)?.[1];
  };
  const start = startOf();
  expect(Math.abs(Number(start) - (Date.now() / 1000 - process.uptime()))).toBeLessThan(60);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3600_000 });
  expect(startOf()).toBe(start);
});
