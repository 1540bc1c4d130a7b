import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import type { JobView, PipelineView, RunnerView } from "@steps/pods";
import { connectRunnerApi, type RunnerApi } from "@steps/runner-api/client";
import type { JobPayload } from "@steps/runner-api/job";
import { runnerInfo } from "@steps/testkit";
import { hasPostgres, type PostgresServer, startPostgres } from "@steps/testkit/postgres-server";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { DAEMON, type ProgramName, until, World } from "./world.ts";

// Six processes start first, which takes long where others work, too.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 });

const info = runnerInfo({ trace_reset: false });

const world = new World();
let postgres: PostgresServer | undefined;
beforeAll(async () => {
  postgres = hasPostgres ? await startPostgres() : undefined;
  await world.open(postgres?.createDatabase());
});
afterAll(async () => {
  await world.close();
  await postgres?.remove();
});

/** One way of runners to their jobs: the URL that a runner of a pod is given, and where runners of the instance belong. */
interface Mode {
  readonly name: string;
  readonly urlOf: (pod: number) => string;
  readonly homeOf: (pod: number) => number;
  readonly router?: ProgramName;
}

const modes: readonly Mode[] = [
  { name: "A, pod-local, without a router", urlOf: (pod) => podUrl(pod), homeOf: (pod) => pod },
  { name: "A, pod-local, by the tokens", urlOf: () => world.urlOf("router"), homeOf: (pod) => pod, router: "router" },
  { name: "B, by the daemon", urlOf: () => world.urlOf("router"), homeOf: () => DAEMON, router: "router" },
  {
    name: "C, by the prefix of the path",
    urlOf: (pod) => `${world.urlOf("router")}/pods/${pod}`,
    homeOf: (pod) => pod,
    router: "router",
  },
];

const podUrl = (pod: number): string => world.urlOf(`pod ${pod as 1 | 2 | 3}`);
const text = Buffer.from("one line\nand another\n");
const checksumOf = (bytes: Buffer): string => `crc32:${crc32(bytes).toString(16).padStart(8, "0")}`;
let tags = 0;

describe.each(modes)("mode $name", ({ urlOf, homeOf, router }) => {
  const apis: RunnerApi[] = [];
  const connect = (url: string): RunnerApi => {
    const api = connectRunnerApi({ url, userAgent: "test 1" });
    apis.push(api);
    return api;
  };
  afterEach(() => {
    for (const api of apis.splice(0)) api.close();
  });

  /** A runner, where those of its kind belong in this mode, and jobs for it alone. */
  interface Runner {
    readonly api: RunnerApi;
    readonly token: string;
    readonly createJob: (project?: string) => Promise<number>;
    readonly ask: () => Promise<JobPayload | undefined>;
    readonly take: () => Promise<JobPayload>;
  }

  async function createRunner(pod: number, settings: object = {}): Promise<Runner> {
    const tag = `tag-${++tags}`;
    const isOfAll = Object.keys(settings).length === 0;
    const request = { tags: [tag], run_untagged: false, ...settings };
    const home = isOfAll ? homeOf(pod) : pod;
    const { token } = await world.admin<RunnerView & { token: string }>(home, "POST", "/runners", request);
    const api = connect(urlOf(pod));
    const ask = async (): Promise<JobPayload | undefined> =>
      (await api.requestJob({ token, system_id: "s_abcdefghijkl", info })).payload;
    return {
      api,
      token,
      ask,
      take: async () => await until(ask),
      async createJob(project = "g/p") {
        const jobs = [{ name: "j", stage: "t", tags: [tag], payload: {} }];
        const body = { project, stages: ["t"], jobs };
        const made = await world.admin<PipelineView & { jobs: JobView[] }>(pod, "POST", "/pipelines", body);
        return made.jobs[0]?.id ?? 0;
      },
    };
  }

  const job = async (pod: number, id: number): Promise<JobView> =>
    await world.admin<JobView>(pod, "GET", `/jobs/${id}`);
  const say = async ({ api }: Runner, { id, token }: JobPayload, state: string, more: object = {}) =>
    await api.updateJob(id, { token, info, state, ...more });

  test.each([1, 2])("a runner of pod %i does a job from its request to its end", async (pod) => {
    const runner = await createRunner(pod);
    const { api } = runner;
    const verified = await api.verify({ token: runner.token, system_id: "s_abcdefghijkl", info });
    expect(verified).toMatchObject({ status: 200 });
    const empty = await api.requestJob({ token: runner.token, info });
    expect(empty).toMatchObject({ status: 204, lastUpdate: expect.stringMatching(new RegExp(`^${homeOf(pod)}\\.`)) });
    const id = await runner.createJob();
    const payload = await runner.take();
    expect(payload.id).toBe(id);
    expect(await job(pod, id)).toMatchObject({ state: "assigned", attempt: 1 });
    expect(await say(runner, payload, "running")).toMatchObject({ status: 200 });
    const { token } = payload;
    const patch = async (offset: number) => await api.patchTrace(id, { token, offset, bytes: text });
    expect(await patch(0)).toMatchObject({ status: 202, stored: text.length });
    // An acknowledgement that was lost, and an offset that is wrong.
    expect(await patch(0)).toMatchObject({ status: 202, stored: text.length });
    expect(await patch(99)).toMatchObject({ status: 416, stored: text.length });
    const artifact = { token, fileName: "a.zip", artifact_type: "archive", artifact_format: "zip" } as const;
    const open = (): Readable => Readable.from([Buffer.from("PK artifact")]);
    expect(await api.uploadArtifact(id, { ...artifact, open })).toMatchObject({ status: 201 });
    const { bytes } = await api.downloadArtifact(id, { token });
    expect(Buffer.concat((await bytes?.toArray()) ?? []).toString()).toBe("PK artifact");
    const output = { checksum: checksumOf(text), bytesize: text.length };
    expect(await say(runner, payload, "success", { output })).toMatchObject({ status: 200 });
    expect(await job(pod, id)).toMatchObject({ state: "success", trace_size: text.length, trace_damaged: false });
    expect(await world.trace(pod, id)).toBe(text.toString());
  });

  test("runners of the three kinds take the jobs that they may, and no others", async () => {
    const all = await createRunner(2);
    const ofGroup = await createRunner(2, { group: "mine" });
    const ofProject = await createRunner(2, { projects: ["mine/app"] });
    for (const [runner, project, other] of [
      [all, "any/thing", undefined],
      [ofGroup, "mine/lib", "yours/lib"],
      [ofProject, "mine/app", "mine/lib"],
    ] as const) {
      const others = other === undefined ? undefined : await runner.createJob(other);
      const id = await runner.createJob(project);
      const payload = await runner.take();
      expect(payload.id).toBe(id);
      expect(await runner.ask()).toBeUndefined();
      expect(await say(runner, payload, "success")).toMatchObject({ status: 200 });
      if (others !== undefined) expect(await job(2, others)).toMatchObject({ state: "pending" });
    }
  });

  test("a job that nobody confirms is offered again, and the first token is worth nothing", async () => {
    const runner = await createRunner(1);
    const id = await runner.createJob();
    const first = await runner.take();
    const second = await runner.take();
    expect([first.id, second.id]).toEqual([id, id]);
    expect(await say(runner, first, "running")).toMatchObject({ status: 403 });
    expect(await say(runner, second, "running")).toMatchObject({ status: 200 });
    expect(await say(runner, second, "failed")).toMatchObject({ status: 200 });
    expect(await job(1, id)).toMatchObject({ state: "failed", attempt: 2 });
  });

  test("a cancelled job reaches nobody, a runner that has it is told, and a retry is a new job", async () => {
    const runner = await createRunner(2);
    const pending = await runner.createJob();
    await world.admin(2, "POST", `/jobs/${pending}/cancel`);
    const id = await runner.createJob();
    const payload = await runner.take();
    expect(payload.id).toBe(id);
    await say(runner, payload, "running");
    await world.admin(2, "POST", `/jobs/${id}/cancel`);
    expect(await say(runner, payload, "running")).toMatchObject({ jobStatus: "canceling" });
    expect(await say(runner, payload, "success")).toMatchObject({ status: 200, jobStatus: "canceled" });
    const { id: again } = await world.admin<JobView>(2, "POST", `/jobs/${id}/retry`);
    const retried = await runner.take();
    expect(retried.id).toBe(again);
    expect(await say(runner, retried, "success")).toMatchObject({ status: 200 });
  });

  test("the token of a job is worth nothing at another pod, whatever it claims", async () => {
    const runner = await createRunner(1);
    await runner.createJob();
    const payload = await runner.take();
    const [head, body, signature] = payload.token.split(".");
    const claims = JSON.parse(Buffer.from(body ?? "", "base64url").toString()) as object;
    const moved = Buffer.from(JSON.stringify({ ...claims, c: "2" })).toString("base64url");
    const other = connect(urlOf(2));
    for (const token of [[head, moved, signature].join("."), "garbage"])
      expect(await other.updateJob(payload.id, { token, info, state: "success" })).toMatchObject({ status: 403 });
    expect(await say(runner, payload, "failed")).toMatchObject({ status: 200 });
  });

  test("clients that have the token in the body alone reach their pod too", async () => {
    const runner = await createRunner(2);
    const id = await runner.createJob();
    const send = async (method: string, path: string, body: object): Promise<Response> =>
      await fetch(`${urlOf(2)}/api/v4${path}`, {
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const payload = await until(async () => {
      const reply = await send("POST", "/jobs/request", { token: runner.token, info: {} });
      return reply.status === 201 && ((await reply.json()) as JobPayload);
    });
    expect(payload.id).toBe(id);
    const ended = await send("PUT", `/jobs/${id}`, { token: payload.token, state: "success" });
    expect([ended.status, ended.headers.get("job-status")]).toEqual([200, "success"]);
    const reset = await send("POST", "/runners/reset_authentication_token", { token: runner.token });
    expect(reset.status).toBe(201);
  });

  const programs = ["pod 2", "daemon", ...(router === undefined ? [] : [router])] as const;
  test.each(programs)(
    "%s may be killed in the middle: the job goes on, and no byte is lost or doubled",
    async (name) => {
      const runner = await createRunner(2);
      const { api } = runner;
      const id = await runner.createJob();
      const later = await runner.createJob();
      const payload = await runner.take();
      expect(payload.id).toBe(id);
      const { token } = payload;
      const patch = async (offset: number, bytes: Buffer) => await api.patchTrace(id, { token, offset, bytes });
      expect(await say(runner, payload, "running")).toMatchObject({ status: 200 });
      expect(await patch(0, text)).toMatchObject({ status: 202 });
      await world.kill(name);
      // Its answer is lost, if it arrives at all.
      if (name !== "daemon") await patch(0, Buffer.concat([text, text])).catch(() => undefined);
      if (name !== "daemon") await world.start(name);
      const whole = Buffer.concat([text, text, text]);
      const stored = await until(async () => await patch(0, whole));
      expect(stored).toMatchObject({ status: 202, stored: whole.length });
      const output = { checksum: checksumOf(whole), bytesize: whole.length };
      expect(await say(runner, payload, "success", { output })).toMatchObject({ status: 200 });
      expect(await world.trace(2, id)).toBe(whole.toString());
      // Only runners of the daemon wait for it; those of the pods do not notice.
      if (name === "daemon" && homeOf(2) === DAEMON) await world.start(name);
      const next = await runner.take();
      expect(next.id).toBe(later);
      expect(await say(runner, next, "success")).toMatchObject({ status: 200 });
      if (name === "daemon" && homeOf(2) !== DAEMON) await world.start(name);
    },
  );

  test.skipIf(!hasPostgres)(
    "the database of a pod may go away: its runners are asked to try again, others go on, and then it goes on",
    async () => {
      const runner = await createRunner(3);
      const { api } = runner;
      const id = await runner.createJob();
      const later = await runner.createJob();
      const { token } = await runner.take();
      const send = async (method: string, path: string, token: string, body: object): Promise<Response> =>
        await fetch(`${urlOf(3)}/api/v4${path}`, { method, body: JSON.stringify({ token, ...body }) });
      const update = async (): Promise<Response> => await send("PUT", `/jobs/${id}`, token, { state: "running" });
      expect((await update()).status).toBe(200);
      expect(await api.patchTrace(id, { token, offset: 0, bytes: text })).toMatchObject({ status: 202 });
      await postgres?.kill();
      const refused = await update();
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
      const asked = await send("POST", "/jobs/request", runner.token, { info });
      // A daemon has its own database: it only finds nobody who has the job.
      expect(asked.status).toBe(homeOf(3) === DAEMON ? 204 : 503);
      const other = await createRunner(1);
      const elsewhere = await other.createJob();
      const payload = await other.take();
      expect(payload.id).toBe(elsewhere);
      expect(await say(other, payload, "success")).toMatchObject({ status: 200 });
      await postgres?.start();
      expect(await until(async () => (await update()).status === 200)).toBe(true);
      const whole = Buffer.concat([text, text]);
      expect(await api.patchTrace(id, { token, offset: 0, bytes: whole })).toMatchObject({ status: 202 });
      const output = { checksum: checksumOf(whole), bytesize: whole.length };
      expect(await api.updateJob(id, { token, info, state: "success", output })).toMatchObject({ status: 200 });
      expect(await world.trace(3, id)).toBe(whole.toString());
      const next = await runner.take();
      expect(next.id).toBe(later);
      expect(await say(runner, next, "success")).toMatchObject({ status: 200 });
    },
  );

  // Without a router there are no two.
  if (router === undefined) return;
  test("two routers with one file are one: each call may go to either", async () => {
    const runner = await createRunner(2);
    const id = await runner.createJob();
    const other = connect(urlOf(2).replace(world.urlOf("router"), world.urlOf("other router")));
    const payload = await until(async () => (await other.requestJob({ token: runner.token, info })).payload);
    expect(payload.id).toBe(id);
    const { token } = payload;
    expect(await say(runner, payload, "running")).toMatchObject({ status: 200 });
    for (const [at, api] of [other, runner.api, other, runner.api].entries())
      expect(await api.patchTrace(id, { token, offset: at * text.length, bytes: text })).toMatchObject({ status: 202 });
    const answers = [];
    for (const api of [runner.api, other])
      answers.push(
        await api.updateJob(id, { token, info, state: "success" }),
        await api.updateJob(id, { token: "x", info }),
      );
    const seen = answers.map(({ status, jobStatus }) => [status, jobStatus]);
    expect(seen.slice(0, 2)).toEqual(seen.slice(2));
    expect(seen[0]).toEqual([200, "success"]);
  });
});
