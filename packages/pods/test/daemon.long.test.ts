import { connectRunnerApi, type RunnerApi } from "@steps/runner-api/client";
import type { JobPayload } from "@steps/runner-api/job";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { podOfId } from "@steps/pod-tokens";
import { freePort } from "@steps/testkit";
import { openDatabase } from "../src/database/open-database.ts";
import { type DaemonOptions, type LinkView, type RunnerView, serveDaemon } from "../src/index.ts";
import type { ClaimAnswer } from "../src/link/messages.ts";
import { databaseKinds, useDatabase } from "./databases.ts";
import {
  callAdmin,
  emptyState,
  runnerInfo,
  startPod,
  takeJob,
  type TestPod,
  type TestPodOptions,
  until,
} from "./pod-harness.ts";

const job = { name: "job", stage: "test", payload: {} };

/** Everything that daemon and pods have told, with what no line may hold. */
const told: string[] = [];
const secrets = new Set<string>();
const log = (...line: readonly unknown[]): void => void told.push(JSON.stringify(line));

describe.each(databaseKinds)("a daemon and two pods, with %s", (kind) => {
  const database = useDatabase(kind);
  let ports: readonly number[];
  let pods: TestPod[];
  let daemon: Awaited<ReturnType<typeof serveDaemon>>;
  let options: DaemonOptions;
  let port: number;
  let api: RunnerApi;

  const startDaemon = async (): Promise<void> => {
    daemon = await serveDaemon(options, { port });
    api = connectRunnerApi({ url: daemon.url, userAgent: "test 1" });
  };
  const stopDaemon = async (): Promise<void> => {
    api.close();
    await daemon.stop();
  };
  const admin = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
    (await callAdmin<T>(daemon.url, daemon.adminToken, method, path, body)).body;
  const linkTokenOf = async (pod: number): Promise<string> => {
    const { token } = await admin<{ token: string }>("POST", `/links/${pod}`);
    secrets.add(token);
    return token;
  };
  const kept = new Map<number, TestPodOptions>();
  /** Starts a pod that is linked, the second time with what it had. */
  const link = async (pod: number): Promise<TestPod> => {
    const { url } = daemon;
    const own = kept.get(pod) ?? database.options();
    const linked = { daemon: { url, token: await linkTokenOf(pod) }, port: ports[pod - 1] as number };
    const started = await startPod({ log, ...own, ...linked, pod });
    kept.set(pod, { ...own, stateDir: started.stateDir });
    return started;
  };
  /** Changes the daemon's data as if they had been lost. */
  const forget = async (...tables: readonly string[]): Promise<void> => {
    await stopDaemon();
    const found = await openDatabase({ url: options.databaseUrl, stateDir: options.stateDir, pod: 0 });
    for (const table of tables) await found.query(`DELETE FROM ${table}`);
    await found.close();
    await startDaemon();
  };

  beforeAll(async () => {
    ports = [await freePort(), await freePort()];
    port = await freePort();
    const urls = new Map(ports.map((number, at) => [at + 1, new URL(`http://127.0.0.1:${number}`)]));
    const { databaseUrl } = database.options();
    options = { pods: urls, databaseUrl, stateDir: await emptyState(databaseUrl, 0), pollHoldMs: 300, log };
    await startDaemon();
    pods = [await link(1), await link(2)];
  });

  afterAll(async () => {
    for (const pod of pods) await pod.stop();
    await stopDaemon();
  });

  const createRunner = async (settings: object = {}): Promise<string> => {
    const { token } = await admin<RunnerView & { token: string }>("POST", "/runners", {
      run_untagged: true,
      ...settings,
    });
    secrets.add(token);
    return token;
  };
  const take = async (token: string): Promise<JobPayload | undefined> => {
    const { payload } = await api.requestJob({ token, system_id: "s_abcdefghijkl", info: runnerInfo() });
    if (payload !== undefined) secrets.add(payload.token);
    return payload;
  };
  const taken = async (token: string): Promise<JobPayload> => await until(async () => await take(token));
  const createJob = async (pod: TestPod, more: object = {}): Promise<number> =>
    (await pod.createPipeline({ jobs: [{ ...job, ...more }] })).jobs[0]?.id as number;
  const podOf = ({ id }: Pick<JobPayload, "id">): TestPod => pods[podOfId(id) - 1] as TestPod;
  const say = async (payload: JobPayload, state: string): Promise<number> => {
    const { id, token } = payload;
    return (await podOf(payload).api.updateJob(id, { token, info: runnerInfo(), state })).status;
  };
  const offersOf = async (): Promise<readonly number[]> =>
    (await admin<LinkView[]>("GET", "/links")).map(({ offers }) => offers);
  const offered = async (...counts: readonly number[]): Promise<void> => {
    await until(async () => JSON.stringify(await offersOf()) === JSON.stringify(counts));
  };
  /** The messages of a daemon to a pod, as anybody with the token of the link could send them. */
  const claim = async (
    pod: TestPod,
    token: string,
    more: object,
  ): Promise<{ status: number; given: ClaimAnswer[] }> => {
    const runner = { id: 9_000_000_000_000_077, description: "", tags: [], run_untagged: true, protected: false };
    const asked = { attempt: 0, claim_id: "c1", manager_id: 1, confirms: true, cancels_gracefully: true, features: [] };
    const reply = await fetch(`${pod.url}/internal/v1/claims`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ claims: [{ runner, ...asked, ...more }] }),
    });
    const { claims = [] } = (await reply.json()) as { claims?: ClaimAnswer[] };
    return { status: reply.status, given: claims.filter(({ payload }) => payload !== undefined) };
  };

  test("a runner of the daemon gets jobs of all pods, and each job's calls are for its pod", async () => {
    const token = await createRunner();
    for (const pod of pods) {
      const id = await createJob(pod);
      const payload = await taken(token);
      expect(payload.id).toBe(id);
      expect(await pod.job(id)).toMatchObject({ state: "assigned", attempt: 1 });
      expect([await say(payload, "running"), await say(payload, "success")]).toEqual([200, 200]);
      expect(await pod.job(id)).toMatchObject({ state: "success" });
    }
    await offered(0, 0);
  });

  test("a job is offered to those runners of the daemon alone that may take it", async () => {
    const [pod] = pods as [TestPod, TestPod];
    const plain = await createRunner();
    const linux = await createRunner({ tags: ["linux"], run_untagged: false });
    const guarded = await createRunner({ tags: ["linux"], protected: true });
    const tagged = await createJob(pod, { tags: ["linux"] });
    const untagged = await createJob(pod);
    const special = await createJob(pod, { features: ["vault_secrets"] });
    await offered(3, 0);
    expect(await take(guarded)).toBeUndefined();
    const got = [await taken(plain), await taken(linux)];
    expect(got.map(({ id }) => id)).toEqual([untagged, tagged]);
    expect([await take(plain), await take(linux)]).toEqual([undefined, undefined]);
    for (const payload of got) expect(await say(payload, "success")).toBe(200);
    await pod.admin("POST", `/jobs/${special}/cancel`);
    await offered(0, 0);
    const { status } = await callAdmin(daemon.url, daemon.adminToken, "POST", "/runners", { projects: ["a/b"] });
    expect(status).toBe(400);
  });

  test("the pod that owns a job decides: cancelled, taken, another attempt, a runner that may not", async () => {
    const [pod] = pods as [TestPod, TestPod];
    const token = await linkTokenOf(1);
    const cancelled = await createJob(pod);
    await pod.admin("POST", `/jobs/${cancelled}/cancel`);
    const local = await createJob(pod, { tags: ["local"] });
    const { token: own } = await pod.createRunner({ tags: ["local"] });
    const owned = (await takeJob(pod, own)) as JobPayload;
    const waiting = await createJob(pod, { tags: ["nobody"] });
    const tags = { runner: { id: 1, description: "", tags: ["nobody"], run_untagged: true, protected: false } };
    expect(await claim(pod, token, { job_id: cancelled })).toEqual({ status: 200, given: [] });
    expect(await claim(pod, token, { job_id: local })).toEqual({ status: 200, given: [] });
    expect(await claim(pod, token, { job_id: waiting })).toEqual({ status: 200, given: [] });
    expect(await claim(pod, token, { job_id: waiting, attempt: 1, ...tags })).toEqual({ status: 200, given: [] });
    expect(await claim(pod, "podlink-garbage", { job_id: waiting, ...tags })).toMatchObject({ status: 401 });
    expect(await claim(pod, await linkTokenOf(2), { job_id: waiting, ...tags })).toMatchObject({ status: 401 });
    expect((await claim(pod, token, { job_id: waiting, ...tags })).given).toHaveLength(1);
    expect(await say(owned, "success")).toBe(200);
    await pod.admin("POST", `/jobs/${waiting}/cancel`);
    await offered(0, 0);
  });

  test("a claim whose answer was lost may come again: the first token is worth nothing, and a confirmed job is not given", async () => {
    const [pod] = pods as [TestPod, TestPod];
    const token = await linkTokenOf(1);
    const runner = { id: 1, description: "", tags: ["again"], run_untagged: false, protected: false };
    const id = await createJob(pod, { tags: ["again"] });
    const tokens: string[] = [];
    for (let attempt = 1; attempt <= 2; attempt++) {
      const { given } = await claim(pod, token, { job_id: id, claim_id: "same", runner });
      expect(given).toMatchObject([{ attempt }]);
      tokens.push((given[0]?.payload as JobPayload | undefined)?.token ?? "");
    }
    expect((await claim(pod, token, { job_id: id, claim_id: "other", runner })).given).toEqual([]);
    const statuses: number[] = [];
    for (const build of tokens) {
      secrets.add(build);
      const answer = await pod.api.updateJob(id, { token: build, info: runnerInfo(), state: "running" });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([403, 200]);
    expect((await claim(pod, token, { job_id: id, claim_id: "same", runner })).given).toEqual([]);
    await pod.admin("POST", `/jobs/${id}/cancel`);
  });

  test("a daemon that lost its offers hears all of them again, and keeps its runners", async () => {
    const token = await createRunner();
    const ids = [await createJob(pods[0] as TestPod), await createJob(pods[1] as TestPod)];
    await offered(1, 1);
    await forget("offers", "offer_lanes", "hands", "links");
    expect(await offersOf()).toEqual([0, 0]);
    await offered(1, 1);
    const got = [await taken(token), await taken(token)];
    expect(got.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(ids);
    for (const payload of got) expect(await say(payload, "success")).toBe(200);
  });

  test("what changed while the daemon was away is known once it is back, and runners of the pods had work meanwhile", async () => {
    const [pod] = pods as [TestPod, TestPod];
    const token = await createRunner();
    const { token: own } = await pod.createRunner({ run_untagged: true });
    const before = await createJob(pod);
    await offered(1, 0);
    await stopDaemon();
    const local = (await takeJob(pod, own)) as JobPayload;
    expect(local.id).toBe(before);
    const after = await createJob(pod);
    await startDaemon();
    const payload = await taken(token);
    expect(payload.id).toBe(after);
    for (const each of [local, payload]) expect(await say(each, "success")).toBe(200);
    await offered(0, 0);
  });

  test("a pod that is away keeps nobody from the jobs of the others, and its own are there again with it", async () => {
    const token = await createRunner();
    const [first, second] = pods as [TestPod, TestPod];
    const later = await createJob(second);
    await offered(0, 1);
    await second.stop();
    const now = await createJob(first);
    const payload = await taken(token);
    expect(payload.id).toBe(now);
    expect(await say(payload, "success")).toBe(200);
    expect((await admin<LinkView[]>("GET", "/links")).map(({ offers }) => offers)).toEqual([0, 1]);
    pods[1] = await link(2);
    const back = await taken(token);
    expect(back.id).toBe(later);
    expect(await say(back, "success")).toBe(200);
  });

  test("a flood of one pod does not keep the others waiting, and the pod with less in hand comes first", async () => {
    const token = await createRunner();
    const [first, second] = pods as [TestPod, TestPod];
    const jobs = Array.from({ length: 40 }, (_, at) => ({ ...job, name: `job ${at}` }));
    const flood = await first.createPipeline({ jobs });
    await offered(40, 0);
    const id = await createJob(second);
    await offered(40, 1);
    const got = [await taken(token), await taken(token)];
    expect(got.map(({ id: each }) => each)).toContain(id);
    await first.admin("POST", `/pipelines/${flood.id}/cancel`);
    for (const payload of got) await say(payload, "success");
    await offered(0, 0);
  });

  test("what the daemon counts can be read, and no line that it or a pod wrote holds a token", async () => {
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    expect(metrics).toContain('pod_daemon_offers{pod="1"} 0');
    expect(metrics).toMatch(/pod_offer_claims_total\{outcome="given"\} \d/);
    for (const path of ["healthz", "readyz"]) expect((await fetch(`${daemon.url}/${path}`)).status).toBe(200);
    expect(told.length).toBeGreaterThan(10);
    expect(secrets.size).toBeGreaterThan(5);
    for (const secret of secrets) expect(told.filter((line) => line.includes(secret))).toEqual([]);
  });
});
