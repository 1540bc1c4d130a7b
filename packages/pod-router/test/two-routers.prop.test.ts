import { createKeySet } from "@steps/pod-tokens/keys";
import { idsOf, mintBuildToken, mintRoutableToken } from "@steps/pod-tokens";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { call, echo, routerFor, startPod } from "./pods.ts";
import { configFor } from "./router-config.ts";

const { active } = createKeySet();
const numbers = fc.integer({ min: 0, max: 4 });
const tokens = fc.oneof(
  numbers.map((pod) => mintRoutableToken({ routing: { pod }, random: Buffer.alloc(16, pod) })),
  numbers.map((pod) =>
    mintBuildToken(active, { issuer: "x", jobId: 1, attempt: 1, routing: { pod }, now: 0, timeoutSeconds: 1 }),
  ),
  fc.stringMatching(/^[\w.~:@-]{1,40}$/),
);
const headers = fc.record(
  {
    "runner-token": tokens,
    "job-token": tokens,
    "private-token": tokens,
    authorization: tokens.map((token) => `Bearer ${token}`),
    "content-type": fc.constantFrom("application/json", "text/plain"),
  },
  { requiredKeys: [] },
);
const ids = fc.oneof(fc.nat(100), fc.nat(idsOf(4)[1]));
const paths = fc
  .tuple(
    fc.option(
      numbers.map((pod) => `/pods/${pod}`),
      { nil: "" },
    ),
    fc.oneof(
      fc.constantFrom("/api/v4/jobs/request", "/api/v4/runners", "/api/v4/runners/verify", "/", "/x?y=/pods/2"),
      ids.map((id) => `/api/v4/jobs/${id}`),
      ids.map((id) => `/api/v4/jobs/${id}/trace`),
    ),
  )
  .map((parts) => parts.join(""));
const bodies = fc.oneof(
  fc
    .record({ token: tokens, last_update: numbers.map((pod) => `${pod}.abc.1`) }, { requiredKeys: [] })
    .map((v) => JSON.stringify(v)),
  fc.json(),
  fc.string({ maxLength: 200 }),
);
const anything = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE"),
  path: paths,
  headers,
  body: bodies,
});
/** Requests that say nothing but in their bodies. */
const silent = fc.record({
  method: fc.constant("POST"),
  path: fc.constantFrom("/api/v4/jobs/request", "/api/v4/runners/verify"),
  headers: fc.constant({}),
  body: bodies,
});
const requests = fc.oneof(anything, silent);

test("two routers with one configuration answer alike, whatever was asked before", async () => {
  const pods = await Promise.all(["one", "two", "three"].map((name) => startPod(echo(name))));
  const config = configFor(pods.map(({ url }) => url));
  const [first, second] = [await routerFor(config), await routerFor(config)];
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, path, headers, body }) => {
      const options = { method, headers: { ...headers, "content-length": Buffer.byteLength(body) } };
      const a = await call(first + path, options, body);
      // The second router has another past.
      if (body.length % 2 === 0) await call(`${second}/pods/3/x`);
      const b = await call(second + path, options, body);
      const outcome = (answer: typeof a): unknown => [
        answer.status,
        answer.headers["x-pod-route"],
        answer.body.replace(/"host":"[^"]*"|"x-forwarded-host":"[^"]*"/g, ""),
      ];
      expect(outcome(a)).toEqual(outcome(b));
      expect([200, 400, 503]).toContain(a.status);
      const route = `${a.status} ${a.headers["x-pod-route"]?.toString().split(" ")[1]}`;
      seen.set(route, (seen.get(route) ?? 0) + 1);
    }),
    { numRuns: 400 },
  );
  // The corpus reaches every kind of evidence.
  const kinds = ["header", "prefix", "id", "body", "ticket", "default"].map((by) => `200 ${by}`);
  expect([...seen.keys()].toSorted()).toEqual([...kinds, "400 undefined", "503 undefined"].toSorted());
});
