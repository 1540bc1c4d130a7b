import { describe, expect, test } from "vitest";
import { COMMAND_EXITS, type ExitCode, exitCodeOfError, JOB_EXITS, REPLAY_EXITS } from "./exit-codes.ts";

describe("exitCodeOfError()", () => {
  test.each([
    ["COMPILE_FAILED", "run", 2],
    ["REQUEST_INVALID", "run", 2],
    ["VERSION_UNSUPPORTED", "trace show", 16],
    ["VERSION_UNSUPPORTED", "replay", 16],
    ["COMMAND_UNUSABLE", "steps serve", 127],
    ["TRACE_INVALID", "replay", 14],
    ["TRACE_INVALID", "trace show", 1],
    ["LOCK_INVALID", "replay", 2],
    ["TRANSPORT", "run", 1],
    ["constructor", "replay", 1],
  ])("gives %s of %s its code", (error, command, code) => {
    expect(exitCodeOfError(error, command)).toBe(code);
  });

  test("has one answer: no error is in two rows of a table", () => {
    for (const table of [JOB_EXITS, COMMAND_EXITS, REPLAY_EXITS]) {
      const rows: readonly ExitCode[] = Object.values(table);
      const errors = rows.flatMap((row) => row.errors ?? []);
      expect(errors).toEqual([...new Set(errors)]);
    }
  });
});

describe("REPLAY_EXITS", () => {
  test("has a number of its own for each verdict", () => {
    const numbers = Object.values(REPLAY_EXITS).map(({ code }) => code);
    expect(numbers).toEqual([...new Set(numbers)]);
  });
});
