import { constants } from "node:os";
import { describe, expect, test } from "vitest";
import { exitCodeOf, type Outcome } from "./status.ts";

const failed = (code: string): Outcome => ({ status: "error", error: { code, message: "m" } });

describe("exitCodeOf()", () => {
  test.each<[Outcome, number]>([
    [{ status: "success" }, 0],
    [{ status: "skipped" }, 0],
    [{ status: "success", exitCode: 3 }, 0],
    [{ status: "failure", exitCode: 1 }, 1],
    [{ status: "failure", exitCode: 3, error: { code: "EXIT_STATUS", message: "exit status 3" } }, 3],
    [{ status: "failure", exitCode: 255 }, 255],
    [{ status: "timeout" }, 124],
    [{ status: "timeout", exitCode: 9, signal: "SIGKILL" }, 124],
    [{ status: "cancelled" }, 143],
    [{ status: "cancelled", signal: "SIGTERM" }, 143],
    [{ status: "cancelled", signal: "SIGINT" }, 130],
    [{ status: "cancelled", signal: "SIGHUP" }, 129],
    [{ status: "cancelled", signal: "SIGINT", exitCode: 7 }, 130],
    [{ status: "cancelled", signal: "constructor" }, 143],
    [{ status: "failure", signal: "SIGKILL" }, 137],
    [{ status: "failure", signal: "SIGSEGV" }, 139],
    [{ status: "failure", exitCode: 0, signal: "SIGABRT" }, 134],
    [{ status: "failure", signal: "__proto__" }, 128],
    [failed("COMMAND_NOT_FOUND"), 127],
    [failed("COMMAND_NOT_EXECUTABLE"), 126],
    [failed("COMPILE_FAILED"), 2],
    [failed("INPUT_INVALID"), 2],
    [failed("EXPRESSION_FAILED"), 2],
    [failed("REFERENCE_INVALID"), 2],
    [failed("TRANSPORT"), 1],
    [{ status: "failure" }, 1],
    [{ status: "error" }, 1],
    [{ status: "interrupted" }, 1],
  ])("of %j is %i", (outcome, code) => {
    expect(exitCodeOf(outcome)).toBe(code);
  });

  test.runIf(process.platform === "linux")("knows the numbers of this system's signals", () => {
    for (const signal of [
      "SIGHUP",
      "SIGINT",
      "SIGQUIT",
      "SIGILL",
      "SIGTRAP",
      "SIGABRT",
      "SIGBUS",
      "SIGFPE",
      "SIGKILL",
      "SIGUSR1",
      "SIGSEGV",
      "SIGUSR2",
      "SIGPIPE",
      "SIGALRM",
      "SIGTERM",
      "SIGXCPU",
      "SIGXFSZ",
      "SIGSYS",
    ] as const) {
      expect([signal, exitCodeOf({ status: "failure", signal })]).toEqual([signal, 128 + constants.signals[signal]]);
    }
  });
});
