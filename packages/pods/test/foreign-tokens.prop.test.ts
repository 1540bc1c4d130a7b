import * as fc from "fast-check";
import { randomBytes } from "node:crypto";
import { verifyBuildToken } from "@steps/pod-tokens";
import type { JobPayload } from "@steps/runner-api/job";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessJob } from "../src/api/job-access.ts";
import { accessRunner } from "../src/api/runner-access.ts";
import { countStatements } from "../src/database/count-statements.ts";
import type { Exchange } from "../src/http/exchange.ts";
import { openPod } from "../src/pod/pod.ts";
import { databaseKinds, useDatabase } from "./databases.ts";
import { emptyState, runnerInfo, startPod, takeJob, type TestPod, until } from "./pod-harness.ts";

/** All calls by which a runner does something with a token; `ID` stands for a job. */
const CALLS = [
  ["POST", "/api/v4/jobs/request"],
  ["PUT", "/api/v4/jobs/ID"],
  ["PATCH", "/api/v4/jobs/ID/trace"],
  ["POST", "/api/v4/jobs/ID/artifacts"],
  ["GET", "/api/v4/jobs/ID/artifacts"],
  ["POST", "/api/v4/runners/verify"],
  ["DELETE", "/api/v4/runners"],
  ["DELETE", "/api/v4/runners/managers"],
  ["POST", "/api/v4/runners/reset_authentication_token"],
  ["GET", "/api/v4/runners/router/discovery"],
  ["GET", "/api/pod/v1/jobs/ID"],
  ["GET", "/api/pod/v1/jobs/ID/trace"],
  ["POST", "/api/pod/v1/jobs/ID/cancel"],
  ["GET", "/api/pod/v1/runners"],
] as const;
const HEADERS = ["runner-token", "job-token", "private-token", "authorization"] as const;

describe.each(databaseKinds)("a pod with %s, asked with tokens of another pod", (kind) => {
  const database = useDatabase(kind);
  let own: TestPod;
  let other: TestPod;
  let job: JobPayload;
  let foreign: readonly string[];

  beforeAll(async () => {
    // Both have the same number, and jobs of the same id: nothing but the keys and what is stored tells them apart.
    own = await startPod(database.options());
    other = await startPod(database.options());
    job = await runningJob(own);
    const taken = await runningJob(other);
    expect(taken.id).toBe(job.id);
    foreign = [taken.token, (await other.createRunner()).token, other.adminToken];
  });

  afterAll(async () => {
    await own.stop();
    await other.stop();
  });

  async function runningJob(pod: TestPod): Promise<JobPayload> {
    const { token } = await pod.createRunner();
    await pod.createPipeline({});
    const payload = await until(async () => await takeJob(pod, token));
    await pod.api.patchTrace(payload.id, { token: payload.token, offset: 0, bytes: Buffer.from("mine\n") });
    return payload;
  }

  /** The whole of an answer but its time. */
  async function answerTo(call: number, id: number, token: string, header: number | undefined): Promise<unknown> {
    const [method, path] = CALLS[call] as (typeof CALLS)[number];
    const name = header === undefined ? undefined : HEADERS[header];
    const value = name === "authorization" ? `Bearer ${token}` : token;
    const body = method === "GET" ? null : JSON.stringify({ token: name === undefined ? token : "", state: "success" });
    const reply = await fetch(own.url + path.replace("ID", String(id)), {
      method,
      headers: { "content-range": "0-9", "system-id": "s_abcdefghijkl", ...(name !== undefined && { [name]: value }) },
      body,
    });
    const headers = Object.fromEntries([...reply.headers].filter(([key]) => key !== "date"));
    return { status: reply.status, headers, body: await reply.text() };
  }

  /** The same form with other characters, so that only the pod that made the token could tell. */
  function garbageLike(token: string): string {
    const [first = "", ...rest] = token.split("-");
    return `${first}-${rest.join("-").replace(/[a-zA-Z0-9_-]/g, () => randomBytes(1).toString("hex").slice(0, 1))}`;
  }

  const calls = fc.record({
    call: fc.nat(CALLS.length - 1),
    token: fc.nat(2),
    header: fc.option(fc.nat(HEADERS.length - 1), { nil: undefined }),
    // The job that is there, and one that is not.
    isKnown: fc.boolean(),
  });

  test("answers as it does to garbage, byte for byte, and nothing changes (I4)", async () => {
    await fc.assert(
      fc.asyncProperty(calls, async ({ call, token, header, isKnown }) => {
        const text = foreign[token] as string;
        const answer = await answerTo(call, isKnown ? job.id : 999_999, text, header);
        expect(answer).toEqual(await answerTo(call, isKnown ? job.id : 999_999, garbageLike(text), header));
        // Names in the path do not show either.
        if (!CALLS[call]?.[1].startsWith("/api/pod"))
          expect(answer).toEqual(await answerTo(call, 999_998, text, header));
        expect([401, 403]).toContain((answer as { status: number }).status);
        expect(await own.job(job.id)).toMatchObject({ state: "running", trace_size: 5, attempt: 1, artifacts: [] });
      }),
      { numRuns: 150 },
    );
    const update = { token: job.token, state: "success", info: runnerInfo() } as const;
    expect(await own.api.updateJob(job.id, update)).toMatchObject({ status: 200 });
  });

  test("does the same work for them as for garbage, so that no time tells them apart", async () => {
    const options = database.options();
    const pod = await openPod({ ...options, stateDir: await emptyState(options.databaseUrl) });
    let statements: string[] = [];
    const counting = { ...pod, database: countStatements(pod.database, (text) => void statements.push(text)) };
    const request = { jobId: job.id, scope: "job:update" } as const;
    const workFor = async (token: string): Promise<unknown> => {
      statements = [];
      const exchange = { headers: { "job-token": token } } as unknown as Exchange;
      await expect(accessJob(counting, exchange, request)).rejects.toMatchObject({ status: 403 });
      await expect(accessRunner(counting, exchange)).rejects.toMatchObject({ status: 403 });
      const use = { keys: pod.keys.verify, issuer: pod.issuer, pod: 1, now: Date.now() / 1000, ...request };
      const verdict = verifyBuildToken(token, use);
      // Both checks come before the signature, which is what takes time.
      return { statements, isCheap: !verdict.accepted && ["form", "key"].includes(verdict.refusal) };
    };
    for (const token of foreign) {
      const work = await workFor(token);
      expect(work).toMatchObject({ isCheap: true });
      expect(work).toEqual(await workFor(garbageLike(token)));
    }
    await pod.close();
  });
});
