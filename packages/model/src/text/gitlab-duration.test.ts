import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readDuration } from "./gitlab-duration.ts";

test.each([
  ["90", 90_000],
  ["3h 30m", 12_600_000],
  ["3 hours 30 minutes", 12_600_000],
  ["3h30m", 12_600_000],
  ["60 minutes", 3_600_000],
  ["one hour", 3_600_000],
  ["an hour and 5 secs", 3_605_000],
  ["2 weeks and 3 days", 1_468_800_000],
  ["1.5 hours", 5_400_000],
  ["1 mo", 2_592_000_000],
  ["1:30", 90_000],
  ["1:00:05", 3_605_000],
  ["", undefined],
  ["never", undefined],
  ["3 hours 5", undefined],
  ["hours", undefined],
  ["3 4 hours", undefined],
  ["-3 hours", undefined],
  ["3 parsecs", undefined],
])("readDuration(%j) gives %j", (text, expected) => {
  expect(readDuration(text)).toBe(expected);
});

test("readDuration() gives a time or nothing for any text", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const ms = readDuration(text);
      expect(ms === undefined || (ms >= 0 && Number.isFinite(ms))).toBe(true);
    }),
  );
});
