import { PAYLOAD } from "@steps/runner-api/job";
import { describe, expect, test } from "vitest";
import { readConfig } from "../config/read-config.ts";
import { makeRequest, type MadeRequest } from "./job-request.ts";

const [config] = readConfig(
  "runners: [{name: n, url: https://h, token: glrt-x, executor: host}]",
  "runners.yml",
).runners;
const folders = { buildsDir: "/b", projectDir: "/b/p", cacheDir: "/c" };

/** Makes the request for a job with these parts of a payload. */
function made(parts: object): MadeRequest {
  if (config === undefined) throw new Error("There is no runner");
  const steps = [{ name: "script", script: ["true"], timeout: 1, when: "on_success", allow_failure: false }];
  const variables = [{ key: "GIT_STRATEGY", value: "none" }];
  const payload = PAYLOAD.readValue({ id: 1, token: "t", steps, variables, ...parts });
  return makeRequest({ config, payload, folders, slot: 0 });
}

test("makeRequest() refuses a job that wants secrets of a vault, and names them", () => {
  expect(made({})).toHaveProperty("request");
  expect(made({ secrets: { DATABASE_PASSWORD: { vault: {} } } })).toEqual({
    problem: "The job wants secrets of a vault (DATABASE_PASSWORD), and this runner asks no vault",
  });
});

describe("makeRequest() has the prefixes of tokens masked that the server names", () => {
  const request = (named: readonly unknown[]): object => made({ features: { token_mask_prefixes: named } });

  test("each of them once", () => {
    expect(request(["acme-", "glpat-", "acme-"])).toMatchObject({
      request: { tokenMaskPrefixes: ["acme-", "glpat-"] },
    });
    expect(request(["acme-"])).not.toHaveProperty("request.notes");
    expect(made({})).toMatchObject({ request: { tokenMaskPrefixes: [] } });
  });

  test("the first fifteen that can be, and says that there are more", () => {
    const many = Array.from({ length: 17 }, (_, n) => `acme${n}-`);
    expect(request(["", "é-", "a\n", "x".repeat(65), ...many])).toMatchObject({
      request: {
        tokenMaskPrefixes: many.slice(0, 15),
        notes: [
          {
            level: "warning",
            code: "token-mask-prefixes",
            message:
              "The server names 6 prefixes of tokens that are not masked: 15 are taken, each of 1 to 64 characters of printable ASCII",
          },
        ],
      },
    });
  });
});
