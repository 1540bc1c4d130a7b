import { expect, onTestFinished, test, vi } from "vitest";
import { DrainSignals } from "./drain-signals.ts";

function stagesOf({ drain, cancel, leave }: DrainSignals): readonly boolean[] {
  return [drain.aborted, cancel.aborted, leave.aborted];
}

function signalsWith(timeoutMs?: number): DrainSignals {
  vi.useFakeTimers();
  const signals = new DrainSignals({ timeoutMs });
  onTestFinished(() => {
    signals[Symbol.dispose]();
    vi.useRealTimers();
  });
  return signals;
}

test("without a time the first signal drains, the second cancels and the third leaves", () => {
  const signals = signalsWith();
  process.emit("SIGTERM");
  vi.advanceTimersByTime(2_147_483_647);
  expect(stagesOf(signals)).toEqual([true, false, false]);
  process.emit("SIGINT");
  expect(stagesOf(signals)).toEqual([true, true, false]);
  process.emit("SIGTERM");
  expect(stagesOf(signals)).toEqual([true, true, true]);
});

test("the end of the time counts as the second signal", () => {
  const signals = signalsWith(60_000);
  process.emit("SIGTERM");
  vi.advanceTimersByTime(59_999);
  expect(stagesOf(signals)).toEqual([true, false, false]);
  vi.advanceTimersByTime(1);
  expect(stagesOf(signals)).toEqual([true, true, false]);
  process.emit("SIGTERM");
  expect(stagesOf(signals)).toEqual([true, true, true]);
});

test("with no time at all the first signal cancels", () => {
  const signals = signalsWith(0);
  process.emit("SIGTERM");
  expect(stagesOf(signals)).toEqual([true, true, false]);
});
