import * as fc from "fast-check";
import { expect, test } from "vitest";
import { inspectBuildToken, mintBuildToken, verifyBuildToken } from "../index.ts";
import { createKeySet, verifyKeysOf } from "../keys/index.ts";

const set = createKeySet();
const issuer = "https://pod.example.com";
const keys = verifyKeysOf(set, 0);
const ids = fc.nat(2 ** 31);
const jobs = fc.record({
  jobId: ids,
  attempt: fc.nat(1000),
  routing: fc.record({ pod: ids, project: ids }, { requiredKeys: ["pod"] }),
  runnerId: fc.option(ids, { nil: undefined }),
  now: ids,
  timeoutSeconds: fc.nat(100_000),
  dependencies: fc.array(ids, { maxLength: 20 }),
});

test("a token is accepted where and for what it was made, and nowhere else", () => {
  fc.assert(
    fc.property(jobs, ids, (job, other) => {
      const token = mintBuildToken(set.active, { ...job, issuer });
      const { now, jobId } = job;
      const use = { keys, issuer, pod: job.routing.pod, now, scope: "job:update", jobId } as const;
      expect(verifyBuildToken(token, use)).toMatchObject({ accepted: true, claims: { jobId, attempt: job.attempt } });
      fc.pre(other !== jobId && other !== job.routing.pod);
      expect(verifyBuildToken(token, { ...use, pod: other })).toEqual({ accepted: false, refusal: "pod" });
      expect(verifyBuildToken(token, { ...use, jobId: other })).toMatchObject({ accepted: false, refusal: "job" });
    }),
  );
});

test("a token with one character changed is refused", () => {
  const job = { issuer, jobId: 1, attempt: 1, routing: { pod: 1 }, now: 0, timeoutSeconds: 60 };
  const token = mintBuildToken(set.active, job);
  const use = { keys, issuer, pod: 1, now: 0, scope: "job:update", jobId: 1 } as const;
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom(..."AQgw09_-. \n".split("")), (at, character) => {
      fc.pre(token[at] !== character);
      const changed = token.slice(0, at) + character + token.slice(at + 1);
      expect(verifyBuildToken(changed, use)).toMatchObject({ accepted: false });
    }),
    { numRuns: 500 },
  );
});

test("no text makes the readers throw", () => {
  const parts = fc.oneof(
    fc.string(),
    fc.json().map((text) => Buffer.from(text).toString("base64url")),
    fc.object().map((value) => Buffer.from(JSON.stringify({ alg: "EdDSA", kid: "x", ...value })).toString("base64url")),
  );
  const use = { keys, issuer, pod: 1, now: 0, scope: "job:update", jobId: 1 } as const;
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 4 }), (list) => {
      const text = `glcbt-${list.join(".")}`;
      expect(verifyBuildToken(text, use)).toEqual({ accepted: false, refusal: "form", claims: undefined });
      expect(inspectBuildToken(text)).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});
