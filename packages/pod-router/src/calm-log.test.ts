import { expect, onTestFinished, test, vi } from "vitest";
import { calmLog } from "./calm-log.ts";

test("a warning that comes again and again is told once in ten seconds", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = calmLog((level, message) => void lines.push(`${level} ${message}`));
  for (let second = 0; second < 12; second += 3) {
    log("warning", "a");
    vi.advanceTimersByTime(3000);
  }
  log("warning", "b");
  log("info", "a");
  log("warning", "a");
  expect(lines).toEqual(["warning a", "debug a", "debug a", "debug a", "warning b", "info a", "warning a"]);
});
