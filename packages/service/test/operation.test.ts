import { connect as connectHttp2 } from "node:http2";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Log } from "@steps/model/operation";
import { expect, onTestFinished, test, vi } from "vitest";
import { drainJobs, listenPort, type Listener, stopService } from "../src/listen/index.ts";
import { codeOf, openTable, scriptJob } from "./jobs-support.ts";
import { openWorld, type World } from "./harness.ts";

const SECRET = "correct-horse-battery";

/** A log that keeps its lines. */
function keepLog(): { readonly lines: string[]; readonly log: Log } {
  const lines: string[] = [];
  return { lines, log: (level, message, facts) => void lines.push(JSON.stringify({ level, message, ...facts })) };
}

test("each event of a job is one line of the log and counts, and neither has a secret", async () => {
  const { lines, log } = keepLog();
  const table = await openTable({ log, limits: { maxJobs: 1 } });
  const change = {
    id: "a",
    variables: [{ key: "T", value: SECRET, isFile: false, isMasked: true }],
    job: { name: `deploy ${SECRET}`, env: { T: SECRET }, grants: { token: SECRET }, maskedValues: [SECRET] },
  };
  const script = `echo $T; echo ${SECRET} >&2; exit 3`;
  await table.run(scriptJob(table.dir, script, change)).ended;
  await table.close("a");
  const job = table.run(scriptJob(table.dir, "sleep 100", { ...change, id: "b", graceMs: 100 }));
  for (const id of ["c", "d", "c"])
    expect(codeOf(() => table.run(scriptJob(table.dir, script, { ...change, id })))).toBe("TOO_MANY_JOBS");
  job.cancel();
  await job.ended;
  table.drain();
  expect(codeOf(() => table.run(scriptJob(table.dir, "true", { id: "e" })))).toBe("SERVICE_DRAINING");
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const seconds = expect.any(Number);
  expect(told).toEqual([
    { level: "info", message: "Job started", job: "a" },
    { level: "info", message: "Job ended", job: "a", status: "failure", exit_code: 3, seconds, code: "EXIT_STATUS" },
    { level: "debug", message: "Job was closed", job: "a" },
    { level: "info", message: "Job started", job: "b" },
    { level: "warning", message: "Job was refused", job: "c", code: "TOO_MANY_JOBS" },
    { level: "debug", message: "Job was refused", job: "d", code: "TOO_MANY_JOBS" },
    { level: "debug", message: "Job was refused", job: "c", code: "TOO_MANY_JOBS" },
    { level: "info", message: "Job is asked to end", job: "b" },
    { level: "info", message: "Job ended", job: "b", status: "cancelled", exit_code: 143, seconds, code: "CANCELLED" },
    { level: "warning", message: "Job was refused", job: "e", code: "SERVICE_DRAINING" },
  ]);
  const metrics = table.metrics();
  for (const line of [
    "step_runner_jobs_started_total 2",
    'step_runner_jobs_ended_total{status="failure"} 1',
    'step_runner_jobs_ended_total{status="cancelled"} 1',
    'step_runner_jobs_refused_total{code="TOO_MANY_JOBS"} 3',
    'step_runner_jobs_refused_total{code="SERVICE_DRAINING"} 1',
    `step_runner_job_output_bytes_total ${2 * "[MASKED]\n".length}`,
    'step_runner_jobs{state="running"} 0',
    'step_runner_jobs{state="ended"} 1',
    "step_runner_max_jobs 1",
    "step_runner_draining 1",
  ])
    expect(metrics.split("\n")).toContain(line);
  for (const text of [metrics, ...lines]) expect(text).not.toContain(SECRET);
});

async function openPort(world: World): Promise<Listener> {
  const listener = await listenPort(world.service, { port: 0, token: "secret" });
  onTestFinished(() => listener.destroy());
  return listener;
}

async function getOverHttp2(path: string, socket: string, method = "GET"): Promise<readonly [number, string]> {
  const session = connectHttp2("http://localhost", { createConnection: () => connect(socket) });
  const stream = session.request({ ":method": method, ":path": path });
  const [headers] = (await once(stream, "response")) as [{ ":status": number }];
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  session.close();
  return [headers[":status"], text];
}

test("health, readiness and figures are for everybody, on the port and on the socket; nothing else is", async () => {
  const world = await openWorld();
  const { address } = await openPort(world);
  for (const path of ["/healthz", "/readyz", "/readyz?verbose=1"]) {
    const answer = await fetch(`${address}${path}`);
    expect([answer.status, await answer.text()]).toEqual([200, "ok\n"]);
    expect(await getOverHttp2(path, world.socket)).toEqual([200, "ok\n"]);
  }
  const metrics = await fetch(`${address}/metrics`);
  expect(metrics.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(await metrics.text()).toContain("\nstep_runner_jobs_started_total 0\n");
  expect(await getOverHttp2("/metrics", world.socket, "HEAD")).toEqual([200, ""]);
  for (const [path, method] of [
    ["/metrics", "POST"],
    ["/metrics/", "GET"],
    ["/healthz/../steps.v1.StepRunner/List", "GET"],
    ["/steps.v1.StepRunner/List", "GET"],
  ])
    expect((await fetch(`${address}${path}`, { method })).status, path).toBe(401);
  const page = await fetch(`${address}/metrics`, { headers: { host: "evil.example", origin: "http://evil.example" } });
  expect(page.headers.get("access-control-allow-origin")).toBeNull();
});

test("a service that drains is not ready, refuses new jobs, and answers for those that it has", async () => {
  const world = await openWorld();
  const { address } = await openPort(world);
  await world.ours.run({ id: "a", ciScript: `until [ -e ${world.dir}/go ]; do sleep 0.02; done; echo done` });
  const drained = drainJobs(world.service, [], new AbortController().signal);
  expect((await fetch(`${address}/readyz`)).status).toBe(503);
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  const error = await world.ours.run({ id: "b", ciScript: "true" }).catch((cause: unknown) => ConnectError.from(cause));
  expect(error).toMatchObject({ code: Code.Unavailable });
  expect((error as ConnectError).metadata.get("step-runner-error")).toBe("SERVICE_DRAINING");
  writeFileSync(`${world.dir}/go`, "");
  let output = "";
  for await (const { stream } of world.ours.followIO({ id: "a" })) output += Buffer.from(stream).toString();
  expect(output).toBe("done\n");
  expect((await world.ours.list({})).jobs).toMatchObject([{ id: "a", exitCode: 0 }]);
  await world.ours.close({ id: "a" });
  await drained;
});

test("draining ends when there is no more time, and what runs is cancelled as by stopService() alone", async () => {
  const world = await openWorld();
  await world.ours.run({ id: "a", ciScript: "sleep 100" });
  const giveUp = new AbortController();
  const drained = drainJobs(world.service, [], giveUp.signal);
  giveUp.abort();
  await drained;
  expect(world.jobs.get("a")?.info.status).toBe("running");
  await stopService(world.service, []);
  expect(world.jobs.get("a")?.info.status).toBe("cancelled");
});

test("a service that nobody is connected to does not wait for anybody to ask for the end of its jobs", async () => {
  const { jobs, service } = await openWorld();
  await using table = jobs;
  // By the clock of the service its job has always just ended.
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const job = table.run(scriptJob("/tmp", "true", { id: "a", job: { workDir: "/tmp" } }));
  await job.ended;
  const listener: Listener = {
    address: "nowhere",
    refuse: () => undefined,
    connectionCount: () => 0,
    ended: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
  await drainJobs(service, [listener], new AbortController().signal);
  expect(table.get("a")?.info.status).toBe("success");
});
