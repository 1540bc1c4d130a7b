import { connectRunnerApi, type RunnerApi } from "@steps/runner-api/client";
import { PAYLOAD } from "@steps/runner-api/job";
import { type RunnerServer, type RunnerServerFault, type ServedJob, startRunnerServer, tempDir } from "@steps/testkit";
import { onTestFinished, expect, test } from "vitest";
import { runnerInfo } from "../src/runner-info.ts";
import { TraceFile } from "../src/trace/trace-file.ts";
import { TraceUpload, type UploadPace } from "../src/trace/upload-trace.ts";

const PACE = { intervalMs: 5, keepAliveMs: 10, firstRetryMs: 5, longestRetryMs: 20 };
const refuseWith =
  (status: number): RunnerServerFault =>
  (_, response) => {
    response.writeHead(status).end();
    return true;
  };
const NEVER = new AbortController().signal;

interface Uploading {
  readonly server: RunnerServer;
  readonly api: RunnerApi;
  readonly job: ServedJob;
  readonly trace: TraceFile;
  readonly upload: TraceUpload;
  readonly stops: string[];
}

async function start(pace: UploadPace = PACE): Promise<Uploading> {
  const server = await startRunnerServer();
  server.traceInterval = 0;
  const job = server.queue({ id: 5, token: "job" });
  const api = connectRunnerApi({
    url: server.url,
    userAgent: "test",
    retries: { attempts: 1, firstDelayMs: 1, longestDelayMs: 1 },
  });
  const trace = new TraceFile(tempDir(), 4 * 1024 * 1024);
  const stops: string[] = [];
  const payload = PAYLOAD.readValue({ id: 5, token: "job", features: { failure_reasons: ["runner_interrupted"] } });
  const info = runnerInfo({ name: "n", executor: "host" });
  const upload = new TraceUpload({ api, payload, info, trace, onStop: (how) => stops.push(how), log: () => {} }, pace);
  onTestFinished(async () => {
    trace[Symbol.dispose]();
    api.close();
    await server[Symbol.asyncDispose]();
  });
  return { server, api, job, trace, upload, stops };
}

test("a trace arrives while it grows, and its end with the checksum", async () => {
  const { server, job, trace, upload } = await start();
  const running = upload.run();
  trace.append("stdout", Buffer.from("one "));
  await server.until(() => job.trace.length === 4);
  trace.append("stderr", Buffer.from("two"));
  expect(await upload.finish({ state: "success" }, NEVER)).toBe("told");
  await running;
  expect(job.trace.toString()).toBe("one two");
  expect(job.end).toMatchObject({ state: "success", output: { bytesize: 7 } });
  expect(server.complaints).toEqual([]);
});

test("a trace without output keeps the job alive", async () => {
  const { server, job, upload } = await start();
  const running = upload.run();
  await server.until(() => job.states.includes("running"));
  await upload.finish({ state: "success" }, NEVER);
  await running;
});

test("a silent job asks as often as its server wants patches, and so hears soon that it is cancelled", async () => {
  const { server, job, upload, stops } = await start({ ...PACE, keepAliveMs: 3_600_000 });
  const running = upload.run();
  await server.until(() => job.states.includes("running"));
  job.status = "canceling";
  await server.until(() => stops.length > 0);
  expect(stops[0]).toBe("gracefully");
  await upload.finish({ state: "failed" }, NEVER);
  await running;
});

test("an answer that is lost costs nothing: the bytes arrive once", async () => {
  const { server, job, trace, upload } = await start();
  let lost = 0;
  server.fault = ({ method, body }, response) => {
    if (method !== "PATCH" || lost === 2) return false;
    lost += 1;
    // The first is stored and not acknowledged, the second is not even stored.
    if (lost === 1) job.trace = Buffer.concat([job.trace, body]);
    response.destroy();
    return true;
  };
  trace.append("stdout", Buffer.from("hello"));
  const running = upload.run();
  await server.until(() => lost === 2);
  trace.append("stdout", Buffer.from(" world"));
  expect(await upload.finish({ state: "success" }, NEVER)).toBe("told");
  await running;
  expect(job.trace.toString()).toBe("hello world");
});

test("a server that has another trace gets the whole of it again", async () => {
  const { job, trace, upload } = await start();
  trace.append("stdout", Buffer.from("right"));
  const running = upload.run();
  job.trace = Buffer.from("wrong");
  expect(await upload.finish({ state: "success" }, NEVER)).toBe("told");
  await running;
  expect(job.trace.toString()).toBe("right");
});

test("202 to the end of a job means to ask again, and 5xx too", async () => {
  const { server, upload } = await start();
  const answers = [202, 500, 202];
  server.fault = ({ method }, response) => {
    const status = method === "PUT" ? answers.shift() : undefined;
    if (status !== undefined) response.writeHead(status).end();
    return status !== undefined;
  };
  expect(await upload.finish({ state: "success" }, NEVER)).toBe("told");
  expect(answers).toEqual([]);
});

test("a server that never takes the end is given up in the end", async () => {
  const { server, upload } = await start();
  server.fault = refuseWith(500);
  expect(await upload.finish({ state: "success" }, NEVER)).toBe("given-up");
});

test("a server that is away for long gets the rest of the trace and the end when it is back", async () => {
  const { server, job, trace, upload } = await start();
  trace.append("stdout", Buffer.from("whole"));
  const away = { PATCH: 30, PUT: 30 };
  server.fault = ({ method }, response) => {
    if ((method !== "PATCH" && method !== "PUT") || away[method] === 0) return false;
    away[method] -= 1;
    // Every other time it answers, for which a proxy may have only this.
    if (away[method] % 2 === 0) response.writeHead(502).end();
    else response.destroy();
    return true;
  };
  expect(await upload.finish({ state: "success" }, NEVER)).toBe("told");
  expect(away).toEqual({ PATCH: 0, PUT: 0 });
  expect([job.trace.toString(), job.end]).toMatchObject(["whole", { state: "success" }]);
});

test("an end that a server refuses again and again is given up after ten times", async () => {
  const { server, upload } = await start();
  let refused = 0;
  server.fault = (_, response) => {
    refused += 1;
    response.writeHead(400).end();
    return true;
  };
  expect(await upload.finish({ state: "success" }, NEVER)).toBe("given-up");
  expect(refused).toBe(10);
});

test.each([
  ["canceling", "gracefully"],
  ["canceled", "now"],
  ["failed", "now"],
])("Job-Status %s ends the job %s", async (status, how) => {
  const { server, job, trace, upload, stops } = await start();
  job.status = status;
  trace.append("stdout", Buffer.from("x"));
  const running = upload.run();
  if (how === "now") await running;
  else await server.until(() => stops.length > 0);
  expect(stops[0]).toBe(how);
  const told = await upload.finish({ state: "failed", reason: "script_failure" }, NEVER);
  expect(told).toBe(how === "now" ? "refused" : "told");
  await running;
});

test("403 ends the job at once, and nothing more is sent", async () => {
  const { server, trace, upload, stops } = await start();
  server.fault = refuseWith(403);
  trace.append("stdout", Buffer.from("x"));
  await upload.run();
  expect(stops).toEqual(["now"]);
  const before = server.requests.length;
  expect(await upload.finish({ state: "success" }, NEVER)).toBe("refused");
  expect(server.requests.length).toBe(before);
});

test("the reason of a failure is one that the server knows, with the exit code", async () => {
  const { job, upload } = await start();
  await upload.finish({ state: "failed", reason: "image_pull_failure", exitCode: 7 }, NEVER);
  expect(job.end).toMatchObject({ state: "failed", failure_reason: "runner_system_failure", exit_code: 7 });
});
