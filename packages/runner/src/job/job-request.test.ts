import { PAYLOAD } from "@steps/runner-api/job";
import { expect, test } from "vitest";
import { readConfig } from "../config/read-config.ts";
import { makeRequest } from "./job-request.ts";

test("makeRequest() refuses a job that wants secrets of a vault, and names them", () => {
  const [config] = readConfig(
    "runners: [{name: n, url: https://h, token: glrt-x, executor: host}]",
    "runners.yml",
  ).runners;
  if (config === undefined) throw new Error("There is no runner");
  const folders = { buildsDir: "/b", projectDir: "/b/p", cacheDir: "/c" };
  const steps = [{ name: "script", script: ["true"], timeout: 1, when: "on_success", allow_failure: false }];
  const variables = [{ key: "GIT_STRATEGY", value: "none" }];
  const made = (secrets: object): object =>
    makeRequest({
      config,
      payload: PAYLOAD.readValue({ id: 1, token: "t", steps, variables, secrets }),
      folders,
      slot: 0,
    });
  expect(made({})).toHaveProperty("request");
  expect(made({ DATABASE_PASSWORD: { vault: {} } })).toEqual({
    problem: "The job wants secrets of a vault (DATABASE_PASSWORD), and this runner asks no vault",
  });
});
