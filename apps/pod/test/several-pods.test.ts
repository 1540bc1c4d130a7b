import { crc32 } from "node:zlib";
import { type Router, startRouter } from "@steps/pod-router";
import { type JobView, type PipelineView, type RunnerView, servePod, type ServedPod } from "@steps/pods";
import { connectRunnerApi, type RunnerApi } from "@steps/runner-api/client";
import type { RunnerInfo } from "@steps/runner-api/messages";
import { tempDir } from "@steps/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const info: RunnerInfo = {
  name: "test",
  version: "1",
  revision: "",
  platform: "linux",
  architecture: "amd64",
  executor: "shell",
  shell: "bash",
  labels: {},
  config: {},
  features: { two_phase_job_commit: true },
};

interface World {
  readonly pods: readonly ServedPod[];
  readonly router: Router;
}
let world: World;

beforeAll(async () => {
  const pods = await Promise.all(
    [1, 2].map((pod) => servePod({ pod, stateDir: tempDir("steps-pods-"), pollHoldMs: 200 }, { port: 0 })),
  );
  const known = new Map(pods.map(({ url }, at) => [at + 1, { number: at + 1, url: new URL(url) }]));
  const limits = { redirectsArtifacts: false, maxRequestsPerPod: 100, idleTimeoutMs: 20_000 };
  world = { pods, router: await startRouter({ pods: known, ...limits }, { port: 0 }) };
});

afterAll(async () => {
  await world.router.close(0);
  for (const pod of world.pods) await pod.stop();
});

/** The ways to a pod, each by the URL that its runners are given. */
const ways = [
  ["without a router", (pod: number) => world.pods[pod - 1]?.url ?? ""],
  ["behind a router, by the tokens", () => world.router.url],
  ["behind a router, by the prefix of the path", (pod: number) => `${world.router.url}/pods/${pod}`],
] as const;

async function admin<T>(pod: number, method: string, path: string, body?: unknown): Promise<T> {
  const reply = await fetch(`${world.router.url}/pods/${pod}/api/pod/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${world.pods[pod - 1]?.adminToken ?? ""}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  expect(reply.ok).toBe(true);
  expect(reply.headers.get("x-pod-route")).toBe(`${pod} prefix`);
  return (await reply.json()) as T;
}

type Pipeline = PipelineView & { readonly jobs: readonly JobView[] };

async function createJob(pod: number): Promise<number> {
  const request = { project: "g/p", stages: ["t"], jobs: [{ name: "j", stage: "t", payload: {} }] };
  const { jobs } = await admin<Pipeline>(pod, "POST", "/pipelines", request);
  return jobs[0]?.id ?? 0;
}

async function createRunner(pod: number): Promise<string> {
  const { token } = await admin<RunnerView & { token: string }>(pod, "POST", "/runners", { run_untagged: true });
  return token;
}

const connect = (url: string): RunnerApi => connectRunnerApi({ url, userAgent: "test 1" });

describe.each(ways)("%s", (_, urlOf) => {
  test.each([1, 2])("a runner of pod %i does a job from its request to its end", async (pod) => {
    const api = connect(urlOf(pod));
    const token = await createRunner(pod);
    expect(await api.verify({ token, system_id: "s_abcdefghijkl", info })).toMatchObject({ status: 200 });
    const empty = await api.requestJob({ token, info });
    expect(empty).toMatchObject({ status: 204, lastUpdate: expect.stringMatching(new RegExp(`^${pod}\\.`)) });
    const id = await createJob(pod);
    const { payload } = await api.requestJob({ token, info, last_update: empty.lastUpdate });
    expect(payload?.id).toBe(id);
    const job = payload?.token ?? "";
    expect(await api.updateJob(id, { token: job, info, state: "running" })).toMatchObject({ status: 200 });
    const text = Buffer.from("hello\n");
    expect(await api.patchTrace(id, { token: job, offset: 0, bytes: text })).toMatchObject({ status: 202, stored: 6 });
    // An acknowledgement that was lost, and an offset that is wrong.
    expect(await api.patchTrace(id, { token: job, offset: 0, bytes: text })).toMatchObject({ status: 202, stored: 6 });
    expect(await api.patchTrace(id, { token: job, offset: 9, bytes: text })).toMatchObject({ status: 416, stored: 6 });
    const output = { checksum: `crc32:${crc32(text).toString(16).padStart(8, "0")}`, bytesize: 6 };
    expect(await api.updateJob(id, { token: job, info, state: "success", output })).toMatchObject({ status: 200 });
    expect(await admin<JobView>(pod, "GET", `/jobs/${id}`)).toMatchObject({ state: "success", trace_size: 6 });
    api.close();
  });

  test("the token of a job is worth nothing at another pod, whatever it claims", async () => {
    const api = connect(urlOf(1));
    const token = await createRunner(1);
    const id = await createJob(1);
    const own = (await api.requestJob({ token, info })).payload?.token ?? "";
    const [head, body, signature] = own.split(".");
    const claims = JSON.parse(Buffer.from(body ?? "", "base64url").toString()) as object;
    const moved = Buffer.from(JSON.stringify({ ...claims, c: "2" })).toString("base64url");
    const forged = [head, moved, signature].join(".");
    const other = connect(urlOf(2));
    for (const bad of [forged, "garbage"]) {
      const answer = await other.updateJob(id, { token: bad, info, state: "success" });
      expect(answer.status).toBe(403);
    }
    expect(await api.updateJob(id, { token: own, info, state: "failed" })).toMatchObject({ status: 200 });
    api.close();
    other.close();
  });

  test("clients that have the token in the body alone reach their pod too", async () => {
    const token = await createRunner(2);
    const url = `${urlOf(2)}/api/v4`;
    const send = (method: string, path: string, body: object): Promise<Response> =>
      fetch(url + path, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const id = await createJob(2);
    const reply = await send("POST", "/jobs/request", { token, info: {} });
    const payload = (await reply.json()) as { id: number; token: string };
    expect(payload.id).toBe(id);
    const ended = await send("PUT", `/jobs/${id}`, { token: payload.token, state: "success" });
    expect([ended.status, ended.headers.get("job-status")]).toEqual([200, "success"]);
    const reset = await send("POST", "/runners/reset_authentication_token", { token });
    expect(reset.status).toBe(201);
  });
});
