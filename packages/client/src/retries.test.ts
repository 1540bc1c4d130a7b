import { expect, test, vi } from "vitest";
import { Retries } from "./retries.ts";

test("at once, then ever later up to 5 s, spread, until the window is over", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const retries = new Retries(300_000);
    const delays: number[] = [];
    for (let delayMs = retries.next(); delayMs !== undefined; delayMs = retries.next()) {
      delays.push(delayMs);
      vi.advanceTimersByTime(delayMs);
    }
    expect(delays[0]).toBe(0);
    for (const [at, delayMs] of delays.slice(1, -1).entries()) {
      const fullMs = Math.min(5000, 100 * 2 ** at);
      expect(delayMs).toBeGreaterThanOrEqual(fullMs / 2);
      expect(delayMs).toBeLessThanOrEqual(fullMs);
    }
    // The last attempt is at the end of the window, not after it.
    expect(delays.reduce((sum, delayMs) => sum + delayMs, 0)).toBe(300_000);
    expect(new Set(delays.slice(10, -1)).size).toBeGreaterThan(10);
    retries.reset();
    expect(retries.failingForMs).toBe(0);
    expect(retries.next()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("no window means no second attempt", () => {
  expect(new Retries(0).next()).toBeUndefined();
});
