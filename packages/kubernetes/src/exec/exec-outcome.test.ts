import { describe, expect, test } from "vitest";
import { isMissingProgram, outcomeOf, parseStatus } from "./exec-outcome.ts";

const outcome = (status: object): object => outcomeOf(parseStatus(JSON.stringify(status))!);

describe("the status of an exec", () => {
  test("is an exit code", () => {
    expect(outcome({ metadata: {}, status: "Success" })).toEqual({ kind: "exited", exitCode: 0 });
    const details = { causes: [{ reason: "Other" }, { reason: "ExitCode", message: "42" }] };
    expect(outcome({ status: "Failure", reason: "NonZeroExitCode", details })).toEqual({
      kind: "exited",
      exitCode: 42,
    });
  });

  test("is a failure without one, or with one that is none", () => {
    expect(outcome({ status: "Failure", reason: "InternalError", message: "m" })).toEqual({
      kind: "failed",
      reason: "InternalError",
      message: "m",
    });
    const details = { causes: [{ reason: "ExitCode", message: "-1x" }] };
    expect(outcome({ status: "Failure", reason: "NonZeroExitCode", details })).toMatchObject({ kind: "failed" });
    expect(outcome({ status: "Something" })).toMatchObject({ kind: "failed" });
  });

  test.each(["", "{", "null", "7", '"Success"', "[]", "{}", '{"status":1}'])("is not %j", (text) => {
    expect(parseStatus(text)).toBeUndefined();
  });

  const runtimes: Array<[boolean, string]> = [
    [
      true,
      'OCI runtime exec failed: exec failed: unable to start container process: exec: "x": executable file not found in $PATH: unknown',
    ],
    [true, "failed to start exec: OCI runtime exec failed: stat /step-runner: no such file or directory: unknown"],
    [true, 'exec failed: unable to start container process: exec: "/step-runner": permission denied: unknown'],
    [false, "error dialing backend: dial tcp 10.0.0.1:10250: connect: no route to host"],
    [false, 'unable to upgrade connection: container not found ("main")'],
    [false, "Internal error occurred: task 1234 not found: not found"],
  ];
  test.each(runtimes)("says %s of a missing program: %s", (isMissing, message) => {
    expect(isMissingProgram({ kind: "failed", reason: "InternalError", message })).toBe(isMissing);
  });

  test("says so by exit code, not by any", () => {
    expect([126, 127].every((exitCode) => isMissingProgram({ kind: "exited", exitCode }))).toBe(true);
    expect([0, 1, 125, 128, 137].some((exitCode) => isMissingProgram({ kind: "exited", exitCode }))).toBe(false);
    expect(isMissingProgram({ kind: "lost", message: "executable file not found" })).toBe(false);
  });
});
