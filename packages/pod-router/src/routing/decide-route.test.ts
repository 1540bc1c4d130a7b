import { createKeySet } from "@steps/pod-tokens/keys";
import { idsOf, mintBuildToken, mintRoutableToken } from "@steps/pod-tokens";
import { describe, expect, test } from "vitest";
import { readRouterConfig } from "../index.ts";
import { decideRoute, type RoutedRequest } from "./decide-route.ts";

const text = `
default: 1
pods:
  - {number: 1, url: 'http://one'}
  - {number: 2, url: 'http://two'}
  - {number: 3, url: 'http://three', jobs: 5000-5999}
`;
const { config } = readRouterConfig({ name: "r.yml", text });
if (config === undefined) throw new Error("the configuration is wrong");

const runner = (pod: number): string => mintRoutableToken({ routing: { pod } });
const { active } = createKeySet();
const job = (pod: number): string =>
  mintBuildToken(active, { issuer: "x", jobId: 1, attempt: 1, routing: { pod }, now: 0, timeoutSeconds: 1 });
const basic = (token: string): string => `Basic ${Buffer.from(`gitlab-ci-token:${token}`).toString("base64")}`;
const opaque = "abcdefghijklmnopqrst";
const ask = (request: Partial<RoutedRequest>): string => {
  const route = decideRoute(config, { method: "POST", target: "/api/v4/jobs/request", headers: {}, ...request });
  return route.kind === "pod" ? `${route.pod.number} ${route.by} ${route.target}` : route.kind;
};
const request = "/api/v4/jobs/request";
const body = (value: unknown): Partial<RoutedRequest> => ({ body: { value } });

describe("decideRoute()", () => {
  test.each([
    ["a runner's token in its header", { headers: { "runner-token": runner(2) } }, `2 header ${request}`],
    ["a job's token in its header", { headers: { "job-token": job(2) } }, `2 header ${request}`],
    ["the header of older runners", { headers: { "private-token": runner(2) } }, `2 header ${request}`],
    ["a token as a bearer", { headers: { authorization: `Bearer ${job(2)}` } }, `2 header ${request}`],
    ["a token as a password", { headers: { authorization: basic(job(2)) } }, `2 header ${request}`],
    [
      "the second header, if the first names no pod",
      { headers: { "runner-token": opaque, "job-token": job(2) } },
      `2 header ${request}`,
    ],
    [
      "a header before the prefix",
      { target: `/pods/2${request}`, headers: { "runner-token": runner(1) } },
      `1 header ${request}`,
    ],
    ["the prefix", { target: `/pods/2${request}?a=b` }, `2 prefix ${request}?a=b`],
    ["the prefix before an id", { target: "/pods/2/api/v4/jobs/5000" }, "2 prefix /api/v4/jobs/5000"],
    ["the prefix of a whole URL", { target: `http://router/pods/2${request}` }, `2 prefix ${request}`],
    ["the prefix alone", { method: "GET", target: "/pods/2" }, "2 prefix /"],
    [
      "an id that the pod made",
      { method: "PATCH", target: `/api/v4/jobs/${idsOf(2)[0]}/trace` },
      `2 id /api/v4/jobs/${idsOf(2)[0]}/trace`,
    ],
    ["an id of a range", { method: "PUT", target: "/api/v4/jobs/5001" }, "3 id /api/v4/jobs/5001"],
    [
      "an id that is beyond the range of its maker",
      { method: "GET", target: `/api/v4/jobs/${idsOf(3)[0]}` },
      `1 default /api/v4/jobs/${idsOf(3)[0]}`,
    ],
    [
      "an id of a pipeline",
      { method: "GET", target: `/api/pod/v1/pipelines/${idsOf(2)[0] + 8}` },
      `2 id /api/pod/v1/pipelines/${idsOf(2)[0] + 8}`,
    ],
    ["a body that has to be read", {}, "body"],
    ["a token in the body", body({ token: runner(2) }), `2 body ${request}`],
    ["a ticket, if the token says nothing", body({ token: opaque, last_update: "2.a1b2.7" }), `2 ticket ${request}`],
    ["a token before a ticket", body({ token: runner(2), last_update: "1.a.1" }), `2 body ${request}`],
    ["the default, if nothing says anything", body({ token: opaque }), `1 default ${request}`],
    ["a body that is no object", body([1]), `1 default ${request}`],
    ["a body that is nothing", body(null), `1 default ${request}`],
    ["a token that is no text", body({ token: { token: runner(2) } }), `1 default ${request}`],
    ["other paths, whose bodies are not read", { target: "/api/v4/user/runners" }, "1 default /api/v4/user/runners"],
    [
      "traces, whose bodies are not read",
      { method: "PATCH", target: "/api/v4/jobs/0/trace" },
      "1 default /api/v4/jobs/0/trace",
    ],
  ])("follows %s", (_, given, expected) => expect(ask(given)).toBe(expected));

  test.each([
    ["in a header", { headers: { "runner-token": runner(9) }, ...body({}) }],
    ["in a prefix", { target: `/pods/9${request}`, ...body({}) }],
    ["in a body", body({ token: runner(9) })],
    ["in a ticket", body({ last_update: "9.a.1" })],
  ])("sends nothing to the default that names a pod which is not known, %s", (_, given) => {
    expect(ask(given)).toBe("unknown");
  });

  test("follows later evidence when the first names a pod that is not known", () => {
    expect(ask({ headers: { "runner-token": runner(9) }, ...body({ token: runner(2) }) })).toBe(`2 body ${request}`);
  });

  test.each([
    ["POST", "/api/v4/runners"],
    ["POST", "/api/v4/runners/"],
    ["DELETE", "/api/v4/runners"],
    ["POST", "/api/v4/runners/verify"],
    ["DELETE", "/api/v4/runners/managers"],
    ["POST", "/api/v4/runners/reset_authentication_token"],
    ["POST", "/api/v4/jobs/request?x=1"],
    ["PUT", "/api/v4/jobs/0"],
  ])("reads the body of %s %s", (method, target) => expect(ask({ method, target })).toBe("body"));

  test("knows no pod where there is no default", () => {
    const alone = readRouterConfig({ name: "r.yml", text: "pods: [{number: 1, url: 'http://one'}]" }).config;
    if (alone === undefined) throw new Error("the configuration is wrong");
    expect(decideRoute(alone, { method: "GET", target: "/", headers: {} })).toEqual({ kind: "unknown" });
  });
});
