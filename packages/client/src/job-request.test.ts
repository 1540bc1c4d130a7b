import { expect, test } from "vitest";
import { createJobToken, toRunRequest } from "./job-request.ts";

test("a token never looks like a flag", () => {
  // One in 64 would, so that all of these cannot be good by chance.
  const tokens = Array.from({ length: 3000 }, createJobToken);
  expect(tokens.filter((token) => !/^\w[\w-]{42}$/.test(token))).toEqual([]);
  expect(new Set(tokens).size).toBe(tokens.length);
});

test("a request names the prefixes of tokens that its job has masked", () => {
  expect(toRunRequest({ ciScript: "true", tokenMaskPrefixes: ["acme-", "tok:"] }).tokenMaskPrefixes).toEqual([
    "acme-",
    "tok:",
  ]);
  expect(toRunRequest({ ciScript: "true" }).tokenMaskPrefixes).toEqual([]);
});
