import { expect, test } from "vitest";
import { failureReason, isRetried } from "./is-retried.ts";

const failed = (exitCode: number) => ({ status: "failure", exitCode }) as const;
const once = { max: 1, when: ["always"], exitCodes: [] };

test("isRetried() counts attempts, and retries neither what passed nor what was cancelled", () => {
  expect([1, 2].map((attempt) => isRetried(once, failed(1), attempt))).toEqual([true, false]);
  expect(isRetried(undefined, failed(1), 1)).toBe(false);
  for (const status of ["success", "cancelled", "skipped"] as const) expect(isRetried(once, { status }, 1)).toBe(false);
});

test("isRetried() takes a reason or an exit code", () => {
  const retry = { max: 2, when: ["runner_system_failure", "job_execution_timeout"], exitCodes: [137] };
  expect(isRetried(retry, failed(137), 1)).toBe(true);
  expect(isRetried(retry, failed(1), 1)).toBe(false);
  expect(isRetried(retry, { status: "timeout" }, 1)).toBe(true);
  expect(isRetried(retry, { status: "error", error: { code: "FETCH_FAILED", message: "x" } }, 1)).toBe(true);
});

test("failureReason() knows a script from the runner", () => {
  expect(failureReason({ status: "failure", signal: "SIGKILL" })).toBe("script_failure");
  expect(failureReason({ status: "failure", error: { code: "EXIT_STATUS", message: "x" } })).toBe("script_failure");
  expect(failureReason({ status: "error" })).toBe("runner_system_failure");
  expect(failureReason({ status: "success" })).toBeUndefined();
});
