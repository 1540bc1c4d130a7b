import { expect, test } from "vitest";
import { apiBase, FAILURE_REASONS, readSeconds, reasonFor } from "./names.ts";
import { tokensOf } from "./tokens-of.ts";

test("apiBase() leaves slashes and /ci at the end of a URL out, and keeps its path", () => {
  expect(apiBase("https://host")).toBe("https://host/api/v4");
  expect(apiBase("https://host///")).toBe("https://host/api/v4");
  expect(apiBase("https://host/ci/")).toBe("https://host/api/v4");
  expect(apiBase("http://host:1/pods/3/")).toBe("http://host:1/pods/3/api/v4");
});

test("reasonFor() gives a reason that the server knows", () => {
  expect(FAILURE_REASONS.map((reason) => reasonFor(reason, []))).toEqual([
    "script_failure",
    "runner_system_failure",
    "job_execution_timeout",
    "runner_system_failure",
    "unknown_failure",
    "script_failure",
    "runner_system_failure",
    "unknown_failure",
  ]);
  expect(reasonFor("runner_interrupted", ["runner_interrupted"])).toBe("runner_interrupted");
});

test("readSeconds() takes whole seconds, and no date", () => {
  expect([
    readSeconds("2"),
    readSeconds(" 30 "),
    readSeconds("1.5"),
    readSeconds("Sun, 06 Nov 1994 08:49:37 GMT"),
  ]).toEqual([2, 30, undefined, undefined]);
});

test("tokensOf() takes the token of the body first, then those of the headers", () => {
  const headers = { "job-token": "j", "runner-token": "r", authorization: "Bearer b", "private-token": "" };
  expect(tokensOf(headers, { token: "body" })).toEqual(["body", "r", "j", "b"]);
  expect(tokensOf(headers, { token: "j" })).toEqual(["j", "r", "b"]);
  expect(tokensOf({ authorization: "Basic eDp5" })).toEqual([]);
});
